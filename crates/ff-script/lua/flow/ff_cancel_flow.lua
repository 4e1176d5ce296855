--- Cancels a flow. This step cancels members up to its bound, and further steps cancel the rest; a claim starts none of them meanwhile. A
--- repeated call keeps the first policy, unless it asks for `cancel_all`.
---
--- key  core          hash
--- arg  policy_name   text
--- arg  reason        free?
--- arg  requested_by  free?
---
--- ok   policy        the policy in force
--- ok   cancelled     number of members cancelled in this step
--- ok   scheduled     number of members still to be visited
--- no   flow_not_found
--- no   flow_already_terminal
--- no   invalid_input
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

if not limits.cancel_policies[policy_name] then
  return no.invalid_input('field', 'policy_name')
end
local moment = now()
local flow, refusal = flow_record.found(keys.flow_id(core))
if not flow then
  return refusal
end
local function unvisited()
  return text(flow.core.sweep_action == 'cancel' and flow.core.nodes - (flow.core.sweep_seen or 0) or 0)
end
local before, harder = flow.core.cancel_policy, policy_name == 'cancel_all' and flow_record.live(flow) > 0
if before and (before == 'cancel_all' or not harder) then
  return already(before, '0', unvisited())
elseif flow.core.ended_at and not before then
  return flow_record.ended_refusal(flow)
end
local count = flow.counts.cancelled or 0
flow_record.put(flow, 'cancel_policy', policy_name)
flow_record.put(flow, 'cancelled_at', moment)
flow_record.put(flow, 'cancel_reason', reason)
flow_record.put(flow, 'cancelled_by', requested_by)
flow_record.add_event(flow, 'cancelled', 'policy', policy_name)
-- `flow_only` spares all members, so a sweep that opens staged members continues.
if policy_name ~= 'flow_only' then
  member_sweep.begin(flow, 'cancel')
end
step.run()
return ok(policy_name, text((flow.counts.cancelled or 0) - count), unvisited())
