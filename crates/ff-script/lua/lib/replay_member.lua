--- Replaying a member of a flow: it waits for its join as the numbers stand now, and its dependents learn that it runs again.

local replay_member = {}

--- Why it cannot run again: its flow is being forgotten or is cancelled, or its join can no longer be met. Otherwise its join
--- is judged.
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
  -- A life that begins anew has added no children yet.
  if joined.round > 0 then
    joined.group_state, joined.satisfied_at = 'satisfied', joined.satisfied_at or moment
  else
    group.judge(joined, moment)
  end
  if joined.group_state == 'impossible' then
    local detail = 'its join can no longer be met; replay an upstream first'
    return no.deps_not_satisfied('state', e.core.public_state, 'detail', detail)
  end
end

--- Begins the new life, and as much of what follows from it as one step may.
function replay_member.begin(e, reopen_downstream, moment)
  reopen.owe_the_replay(e, reopen_downstream, moment)
  step.write(e)
  dependents.admit(e)
  step.run()
end

return replay_member
