--- Claims one execution for a worker instance at once. The execution must wait, or be assigned to this instance.
---
--- key  core                hash
--- arg  worker_id           text
--- arg  worker_instance_id  text
--- arg  lease_ttl_ms        int
--- arg  lease_id            uuid
--- arg  attempt_id          uuid
---
--- ok   expires_at          ms
--- ok   namespace
--- ok   lane_id
--- ok   task                in the format of `ff_claim_execution`
--- no   execution_not_found
--- no   execution_not_active
--- no   execution_not_eligible
--- no   grant_already_exists
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  return lease.not_active(e)
elseif e.grant and e.grant.worker_instance_id ~= worker_instance_id then
  return no.grant_already_exists('detail', 'the execution is assigned to ' .. e.grant.worker_instance_id)
elseif e.place ~= 'waiting' and not (e.grant and moment < e.grant.expires_at) then
  return no.execution_not_eligible('state', e.core.public_state)
end
local holder = holder(e.lane, worker_id, worker_instance_id, lease_ttl_ms, lease_id, attempt_id, moment)
return claim_grant.take(e, holder, lease_id, attempt_id, moment)
