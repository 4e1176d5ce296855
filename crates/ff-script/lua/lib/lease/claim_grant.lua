--- Claim grants: until a grant expires, only one worker instance may claim the execution. Assigned work waits in queues of its instance, as
--- if the instance were a requirement class.

local claim_grant = {}

--- Returns the class of work assigned to a worker instance. Requirements are never empty, so no other class begins with two commas.
function claim_grant.class(worker_instance_id)
  return ',,' .. worker_instance_id
end

function claim_grant.is_class(class)
  return class and class:sub(1, 2) == ',,'
end

local PLACE = 'blocked:route'

--- Records the grant of an execution, and adds the execution to the indexes of assigned work.
function claim_grant.enter(e)
  local grant, core = e.grant, e.core
  local fields = { 'worker_instance_id', grant.worker_instance_id, 'granted_at', grant.granted_at, 'expires_at', grant.expires_at }
  append(fields, 'requested_by', grant.requested_by)
  append(fields, 'reason', grant.reason)
  call('HSET', keys.of(e.id, 'claim_grant'), unpack(fields))
  index.keep_back(e.lane, PLACE, core.changed_at, core.blocked_until, e.id)
  local class = claim_grant.class(grant.worker_instance_id)
  index.wait(e.lane, core.kind, class, core.priority or 0, core.created_at, e.id)
end

--- Deletes the grant and removes the execution from these indexes, using the grant as it was read.
function claim_grant.leave(e)
  call('DEL', keys.of(e.id, 'claim_grant'))
  index.admit(e.lane, PLACE, e.kept_until, e.id)
  index.unwait(e.lane, e.core.kind, claim_grant.class(e.granted.worker_instance_id), e.id)
end

--- Returns the worker instance that an execution is assigned to, and when the grant expires.
function claim_grant.holder(id)
  local instance, expires_at = unpack(call('HMGET', keys.of(id, 'claim_grant'), 'worker_instance_id', 'expires_at'))
  return instance, tonumber(expires_at)
end

--- Filters ids and scores in turn: keeps executions whose grants have not expired.
function claim_grant.live(waiting, moment)
  local live = {}
  for nth = 1, #waiting, 2 do
    local _, expires_at = claim_grant.holder(waiting[nth])
    if expires_at and moment < expires_at then
      live[#live + 1], live[#live + 2] = waiting[nth], waiting[nth + 1]
    end
  end
  return live
end

--- Uses up a grant when its instance claims the execution: removes the execution from the indexes of blocked work. The claim removes it
--- from its queue like any other.
function claim_grant.use(lane, id)
  local core = keys.of(id, 'core')
  local namespace, until_ms = unpack(call('HMGET', core, 'namespace', 'blocked_until'))
  call('HDEL', core, 'blocked_on', 'blocked_until')
  call('DEL', keys.of(id, 'claim_grant'))
  index.admit(lane, PLACE, until_ms, id)
  index.reason(namespace, phase.reason('assignment'), nil, nil, id)
end

--- Returns the refusal to assign an execution that an operator holds, that is behind another of its singleton key, or that is not ready for
--- a reason other than admission.
local function not_eligible(e)
  local state, why = e.core.public_state, nil
  if not phase.is_ready(e) then
    why = 'the execution is ' .. state
  elseif e.core.held_at then
    why = 'an operator holds the execution'
  elseif e.core.behind then
    why = 'another execution of its singleton key has to end first'
  end
  return why and no.execution_not_eligible('state', state, 'detail', why)
end

--- Assigns a live execution to a worker instance. Returns the refusal, if any, and whether it was already assigned to this instance.
function claim_grant.issue(e, worker_instance_id, ttl_ms, reason, requested_by, moment)
  local granted = e.grant
  if granted and moment < granted.expires_at then
    if granted.worker_instance_id == worker_instance_id then
      return nil, true
    end
    return no.grant_already_exists('detail', 'the execution is assigned to ' .. granted.worker_instance_id)
  end
  if e.lease then
    local is_spent = (e.core.reclaims or 0) >= policy.of(e).max_reclaim_count
    if moment < e.lease.expires_at or is_spent then
      local detail = lease.instance(e.lease.holder) .. ' holds the execution'
      return no.lease_conflict('state', 'active', 'detail', detail)
    elseif e.core.held_at or e.core.behind then
      local state = not e.core.held_at and 'rate_limited' or 'waiting'
      local why = e.core.held_at and 'an operator holds the execution'
        or 'another execution of its singleton key has to end first'
      return no.execution_not_eligible('state', state, 'detail', why)
    end
    reclaim(e, moment)
  end
  local refusal = not_eligible(e)
  if refusal then
    return refusal
  end
  phase.assigned(e, {
    worker_instance_id = worker_instance_id,
    granted_at = moment,
    expires_at = moment + ttl_ms,
    requested_by = requested_by,
    reason = reason,
  }, moment)
  return nil, false
end

--- Returns true if a worker must be admitted before it gets any work of a lane.
local function is_limited(lane)
  local configured = settings.of(lane)
  return configured and (configured.state == 'paused' or configured.concurrency) or quotas.of(lane)
end

--- Hands an execution that is ready, or assigned to this worker, to the worker. Returns the answer or the refusal.
function claim_grant.take(e, holder, lease_id, attempt_id, moment)
  if is_limited(e.lane) then
    return no.execution_not_eligible('state', e.core.public_state, 'detail', 'its lane or a quota has to admit it')
  end
  local class = e.grant and claim_grant.class(e.grant.worker_instance_id) or e.core.class
  holder.key = not e.grant and e.core.fair_key or nil
  local payload, policy_json = unpack(call('MGET', keys.of(e.id, 'payload'), keys.of(e.id, 'policy')))
  local score, taken = index.score(e.core.priority or 0, e.core.created_at), {}
  local task = {}
  local _, _, ended = claim.take(
    task, e.id, score, class, payload or '', policy_json, e.lane, holder, lease_id, attempt_id, taken, nil, moment
  )
  if ended then
    -- The flow was cancelled: the execution has ended, and its changes are written although the call is refused.
    step.run()
    event_feed.write()
    return no.execution_not_eligible('state', e.core.public_state)
  end
  claim.hold(e.lane, holder, taken)
  return ok(holder.expires_at, e.core.namespace or 'default', e.core.lane_id or 'default', task)
end

return claim_grant
