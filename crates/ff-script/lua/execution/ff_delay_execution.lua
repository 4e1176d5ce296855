--- Releases the lease and delays the execution; the same attempt resumes afterwards. A repeated call with the same fence gets the first
--- answer.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  start_in_ms   int?    delay of the start
--- arg  start_at      int?    time of the start; at once when both are absent
---
--- ok   delayed_until ms
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom             a full server must still be able to give work back

local moment = now()
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local e, refusal, ended, former = lease.held(keys.id(core), lease_id, attempt, moment)
if e then
  local until_ms = phase.start(start_in_ms, start_at, moment)
  event_feed.to(e, 'delayed', 'until', text(until_ms))
  lease.finish(e, 'delayed', until_ms, nil, nil, moment)
  phase.delayed(e, until_ms, 'holder', moment)
  record.put(e, 'next_attempt', 'resume')
  record.save(e)
elseif ended ~= 'delayed' then
  return refusal
end
return ok(text((e or former).core.last_lease_until))
