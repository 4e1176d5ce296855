--- Releases the lease until the holder's join is decided, or keeps it when the join is decided already. The attempt stays open. A repeated
--- call with the same fence gets the first answer.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
---
--- ok   state         pending when it waits now; otherwise the decision of the join, and the lease is kept
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   execution_not_in_flow
--- no   invalid_dependency
--- no   invalid_args
--- flag allow-oom             a full server must still be able to give work back

local moment, id = now(), keys.id(core)
local e, refusal, ended = lease.held(id, lease_id, lease.attempt_text(lease_epoch, attempt_id), moment)
if not e then
  return ended == 'waiting_for_children' and ok('pending') or refusal
elseif not e.core.flow_id then
  return no.execution_not_in_flow('field', 'execution_id', 'detail', 'is in no flow')
end
local joined = step.group(e.core.flow_id, id)
if not joined or joined.round == 0 then
  return no.invalid_dependency('detail', 'the execution has no children to wait for')
elseif joined.group_state == 'pending' then
  event_feed.to(e, 'waits_for_children')
  lease.finish(e, 'waiting_for_children', nil, nil, nil, moment)
  phase.blocked(e, nil, nil, moment)
  record.put(e, 'next_attempt', 'resume')
  record.save(e)
end
return ok(joined.group_state)
