--- Replays a member of a flow: it waits for its join as the counts stand now, and its dependents are notified.

local replay_member = {}

--- Returns the refusal if a member cannot be replayed: its flow is being forgotten or is cancelled, or its join can no longer be met.
--- Otherwise decides its join.
function replay_member.refusal(e, moment)
  local flow, joined = step.flow(e.core.flow_id), step.group(e.core.flow_id, e.id)
  local cancelled = flow.core.cancel_policy
  if flow.core.sweep_action == 'forget' then
    return no.execution_not_found()
  elseif cancelled and cancelled ~= 'flow_only' then
    return flow_record.ended_refusal(flow)
  elseif not joined then
    return nil
  end
  -- A replayed member has added no children yet.
  if joined.round > 0 then
    joined.group_state, joined.satisfied_at = 'satisfied', joined.satisfied_at or moment
  else
    group.evaluate(joined, moment)
  end
  if joined.group_state == 'impossible' then
    local detail = 'its join can no longer be met; replay an upstream first'
    return no.deps_not_satisfied('state', e.core.public_state, 'detail', detail)
  end
end

--- Begins the replay, and as many of its consequences as one step may handle.
function replay_member.begin(e, reopen_downstream, moment)
  reopen.mark_replay_pending(e, reopen_downstream, moment)
  step.write(e)
  dependents.admit(e)
  step.run()
end

return replay_member
