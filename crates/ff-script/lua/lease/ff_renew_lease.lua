--- Extends the lease to one TTL from now. A repeated call extends it again.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  lease_ttl_ms  int?    the previous TTL when absent
---
--- ok   expires_at    ms
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom             work that runs on a full server must be able to go on

local moment = now()
local id, attempt = keys.id(core), lease.attempt_text(lease_epoch, attempt_id)
local held_key = keys.of(id, 'lease:current')
local held = call('HMGET', held_key, 'lease_id', 'attempt', 'expires_at', 'ttl_ms')
if held[1] ~= lease_id or held[2] ~= attempt or moment >= tonumber(held[3]) then
  return (lease.refusal(id, lease_id, attempt))
end
local expires_at = moment + (lease_ttl_ms or tonumber(held[4] or limits.lease_ttl_ms))
call('HSET', held_key, 'expires_at', expires_at)
if lease_ttl_ms then
  call('HSET', held_key, 'ttl_ms', lease_ttl_ms)
end
index.renew(expires_at, id)
return ok(text(expires_at))
