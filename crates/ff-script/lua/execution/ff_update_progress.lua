--- Records the holder's progress. Absent fields stay as they were.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  percent       int?
--- arg  message       free?
---
--- ok   at            ms
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom             work that runs on a full server must be able to go on

local moment = now()
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local held = call('HMGET', keys.of(keys.id(core), 'lease:current'), 'lease_id', 'attempt', 'expires_at')
if held[1] ~= lease_id or held[2] ~= attempt or moment >= tonumber(held[3]) then
  return (lease.refusal(keys.id(core), lease_id, attempt))
end
local set = { 'progress_at', moment }
append(set, 'progress_percent', percent)
append(set, 'progress_message', message)
call('HSET', core, unpack(set))
return ok(text(moment))
