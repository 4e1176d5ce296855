--- Claims one execution whose attempt resumes, because its suspension or its delay is over.
---
--- key  core                hash
--- arg  worker_id           text
--- arg  worker_instance_id  text
--- arg  lease_ttl_ms        int
--- arg  lease_id            uuid
---
--- ok   expires_at          ms
--- ok   namespace
--- ok   lane_id
--- ok   task                in the format of `ff_claim_execution`
--- no   execution_not_found
--- no   execution_not_eligible
--- no   not_a_resumed_execution
--- no   invalid_args

local moment, id = now(), keys.id(core)
local e = record.load(id)
if not e then
  return no.execution_not_found()
elseif e.place ~= 'waiting' then
  return no.execution_not_eligible('state', e.state)
elseif e.core.next_attempt ~= 'resume' then
  return no.not_a_resumed_execution()
end
local holder = holder(e.lane, worker_id, worker_instance_id, lease_ttl_ms, lease_id, nil, moment)
local payload, policy_json = unpack(call('MGET', keys.of(id, 'payload'), keys.of(id, 'policy')))
holder.key = e.core.fair_key
local score, taken = index.score(e.core.priority or 0, e.core.created_at), {}
local task = {}
local _, _, ended =
  claim.take(task, id, score, e.core.class, payload or '', policy_json, e.lane, holder, lease_id, nil, taken, nil, moment)
if ended then
  -- Its cancelled flow ended it here: that end is written although the claim is refused.
  step.run()
  event_feed.write()
  return no.execution_not_eligible('state', e.core.public_state)
end
local configured = settings.of(e.lane)
if configured and configured.keyed then
  turns.charge(e.lane, configured, { holder.key or '' })
end
claim.hold(e.lane, holder, taken)
return ok(holder.expires_at, e.core.namespace or 'default', e.core.lane_id or 'default', task)
