--- Replays within a flow: the edges of a replayed member wait for it once more, and its finished dependents may be replayed as well.

local reopen = {}

local CLEARED = [[
  cancellation_reason cancelled_by failure_category failure_message failure_permanent finished_by held_at held_by hold_reason
  progress_at progress_message progress_percent reclaims result_bytes result_type retries started_at terminal_outcome
  deadline_at
]]

--- Begins another life under the same id: retries start from zero, result, failure and an operator's hold are cleared, and the deadline is
--- set again. Only the steps in `kept_steps` remain.
function reopen.reset_for_replay(e, moment, kept_steps)
  event_feed.to(e, 'replayed')
  for name in CLEARED:gmatch('%S+') do
    record.drop(e, name)
  end
  record.put_if_given(e, 'last_lease_id', e.core.last_lease_id)
  record.put_if_given(e, 'last_attempt', e.core.last_attempt)
  record.put(e, 'replays', (e.core.replays or 0) + 1)
  record.put(e, 'next_attempt', 'replay')
  local deadline_ms = policy.of(e).timeout_policy.execution_deadline_ms
  record.put_if_given(e, 'deadline_at', deadline_ms and moment + deadline_ms)
  phase.waiting(e, moment)
  call('DEL', keys.of(e.id, 'result'))
  if e.core.steps then
    steps.keep(e, kept_steps)
  end
  suspension.forget(e)
end

--- Blocks a replayed member until its dependents are notified, and then by its join.
function reopen.mark_replay_pending(e, too, moment)
  phase.blocked(e, 'reopening', nil, moment)
  e.result_bytes = nil
  local joined = step.group(e.core.flow_id, e.id)
  if joined then
    siblings.owe(joined, nil)
  end
  e.pending_propagation = nil
  if step.dependents(e) > 0 then
    e.pending_propagation = { what = too and 'reopen' or 'replay', since = moment }
    step.later('dependents', e.id)
  end
end

--- Makes an edge wait again for its replayed upstream. With `too`, a finished dependent is replayed as well. A dependent that has started
--- is left alone.
function reopen.unsettle(one, too)
  local joined, moment = step.group(one.flow_id, one.downstream), here.memory.moment
  if not joined then
    return
  end
  if one.round == joined.round then
    group.recount(joined, one.state, 'pending')
  end
  one.state = 'pending'
  meta.withdraw(one)
  local child = record.find(one.downstream)
  if not child then
    return
  end
  local finished = child.core.terminal_outcome
  local again = too and finished and (child.core.replays or 0) < policy.of(child).max_replay_count
  if again and joined.round > 0 then
    group.begin_round(joined)
  end
  if (again or child.core.public_state == 'waiting_children') and one.round ~= joined.round then
    one.round = joined.round
    group.enter(joined, one)
  end
  if again then
    group.evaluate(joined, moment)
    reopen.reset_for_replay(child, moment)
    reopen.mark_replay_pending(child, true, moment)
    step.write(child)
    dependents.admit(child)
  end
end

return reopen
