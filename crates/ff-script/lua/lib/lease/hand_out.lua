--- Hands out the first waiting executions of a lane, up to the limit of one call. Stops before payloads and signals exceed the size of one
--- reply, but always takes one if there is one. Returns the tasks, each as its number of items and the items, and for the best execution
--- that still waits how far it is behind the highest priority and when it was created.
---
--- `holder` describes the worker; the ids of its leases and attempts count up from its first ids. Executions that quota policies apply to
--- are not taken but listed in the fourth result. The fifth is the number of tasks. With `admitted`, takes only the executions in that list. `holder.assigned_to` is set for a
--- worker that asks for work assigned to its instance.

return function(lane_eligible, lane, kinds, capabilities, max, holder, moment, admitted)
  max = math.min(max, limits.claim_at_once)
  local configured = settings.of(lane)
  local policies, slots, waiting, class_of, key_of = quotas.of(lane), nil, nil, nil, nil
  -- Work that is assigned to a worker instance does not wait for a turn.
  local is_keyed, served = configured and configured.keyed and not holder.assigned_to, {}
  if admitted then
    waiting, slots, class_of, key_of = quotas.admitted(policies, lane, admitted, holder.instance, moment)
  elseif is_keyed then
    local classes = claim.classes(configured, capabilities)
    waiting, class_of, key_of = turns.first(lane_eligible, lane, configured, kinds, classes, max, moment)
  else
    local classes = claim.classes(configured, capabilities, holder.assigned_to)
    waiting, class_of =
      claim.first(lane_eligible, lane, kinds, classes, max, configured and configured.ageing_ms, moment)
  end
  local looked = #waiting
  if holder.assigned_to and not admitted then
    waiting = claim_grant.live(waiting, moment)
  end
  index.collect()
  local tasks, held, bytes, taken, listed = {}, {}, 0, 0, {}
  local behind, created_at, passed_over
  local payloads = claim.payloads(waiting, max)
  for nth = 1, #waiting, 2 do
    local id, score = waiting[nth], waiting[nth + 1]
    local payload, policy_json = '', nil
    local is_done = taken + #listed == max
    if not is_done then
      payload, policy_json = payloads()
    end
    bytes = bytes + #payload
    if is_done or bytes > limits.claim_bytes and taken > 0 then
      behind, created_at = index.head(tonumber(score), moment)
      break
    end
    local request, is_taken, more, ended
    holder.key = key_of and key_of[id]
    if policies and not admitted then
      holder.slots, request, ended = quotas.ask(policies, id)
    else
      holder.slots = slots and slots[id]
    end
    if not request and not ended then
      local digits = claim.digits(taken)
      local lease_id, attempt_id = holder.lease_ids .. digits, holder.attempt_ids .. digits
      local bytes_left = taken > 0 and limits.claim_bytes - bytes
      local first = #tasks + 1
      tasks[first] = 0
      is_taken, more, ended = claim.take(
        tasks, id, score, class_of[id], payload, policy_json, lane, holder, lease_id, attempt_id, held, bytes_left, moment
      )
      tasks[first] = is_taken and #tasks - first or nil
    end
    if request then
      bytes, listed[#listed + 1] = bytes - #payload, request
    elseif ended then
      bytes, passed_over = bytes - #payload, tonumber(score)
    elseif is_taken then
      taken = taken + 1
      if not claim_grant.is_class(class_of[id]) then
        served[#served + 1] = holder.key or ''
      end
      bytes = bytes + (more or 0)
    elseif more then
      behind, created_at = index.head(tonumber(score), moment)
      break
    end
  end
  -- More may wait behind the executions that were examined and did not start.
  if not behind and passed_over and looked > 2 * max then
    behind, created_at = index.head(passed_over, moment)
  end
  if is_keyed then
    local used = turns.charge(lane, configured, served)
    if behind then
      behind, created_at = limits.fair_behind, used
    end
  end
  claim.hold(lane, holder, held)
  return tasks, behind and text(behind) or '', behind and text(created_at) or '', listed, taken
end
