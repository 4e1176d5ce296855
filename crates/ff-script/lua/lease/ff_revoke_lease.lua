--- Revokes the lease of an execution, which then waits for another holder. A repeated call for the same lease changes nothing.
---
--- key  core          hash
--- arg  lease_id      uuid?   only this lease, when given
--- arg+ reason        free?   stored in the lease history
---
--- ok   lease_epoch
--- no   execution_not_found
--- no   stale_lease
--- no   no_active_lease
--- no   invalid_args
--- flag allow-oom             a full server must still be able to take work back

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
end
local last, held = e.core, e.lease
if not held then
  if last.last_lease_ended == 'revoked' and (not lease_id or lease_id == last.last_lease_id) then
    return already((lease.attempt_parts(last.last_attempt)))
  end
  return no.no_active_lease('state', last.public_state)
elseif lease_id and lease_id ~= held.lease_id then
  return no.stale_lease()
end
event_feed.to(e, 'lease_revoked')
lease.finish(e, 'revoked', nil, 'lease_revoked', nil, moment)
e.event = lease.because(e.event, reason)
phase.waiting(e, moment)
record.put(e, 'next_attempt', 'reclaim')
record.save(e)
return ok((lease.attempt_parts(held.attempt)))
