--- Assigns an execution whose lease has expired to one worker instance: only that instance may claim it for a while. The lease may be
--- reclaimed already or not.
---
--- key  core                hash
--- arg  worker_instance_id  text
--- arg  ttl_ms              int
--- arg  reason              free?
--- arg  requested_by        free?
---
--- ok   expires_at          ms
--- no   execution_not_found
--- no   execution_not_active
--- no   execution_not_eligible
--- no   execution_not_reclaimable
--- no   grant_already_exists
--- no   lease_conflict
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  return lease.not_active(e)
elseif not e.lease and e.core.next_attempt ~= 'reclaim' then
  return no.execution_not_reclaimable('state', e.core.public_state)
end
local refusal, is_assigned = claim_grant.issue(e, worker_instance_id, ttl_ms, reason, requested_by, moment)
if refusal then
  return refusal
end
local expires_at = text(e.grant.expires_at)
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
return is_assigned and already(expires_at) or ok(expires_at)
