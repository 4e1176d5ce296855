--- Ends an execution, with its open attempt, suspension and waitpoints.
---
--- `ending` has the `outcome` and the public `state`, the cause of the end (`by`; nil for its holder), how the `lease` and the `attempt`
--- end if there are any, the `failure` if there is one, and the `reason` and `requested_by` of a cancellation.

local GONE = {
  'behind', 'blocked_on', 'blocked_until', 'blocking_detail', 'current_waitpoint_id', 'delayed_until', 'delayed_why', 'next_attempt', 'replay_reason',
  'replay_requested_by',
}
local FAILURE = { 'failure_category', 'failure_message', 'failure_permanent' }

local function drop_all(e, names)
  for nth = 1, #names do
    record.drop(e, names[nth])
  end
end

return function(e, ending, moment)
  if e.lease then
    lease.finish(e, ending.lease, nil, ending.attempt, ending.failure, moment)
  elseif e.core.next_attempt == 'resume' then
    e.attempt = e.attempt or {}
    append(e.attempt, 'ended_at', moment)
    append(e.attempt, 'outcome', ending.attempt)
    blame(e, ending.failure)
  end
  if e.suspension then
    local how = ending.by == 'suspension_timeout' and 'timed_out' or 'execution_ended'
    suspension.past(e, e.suspension, { how = how }, {}, moment)
  end
  if e.core.pending_waitpoints then
    pending.keep(e, {})
  end
  drop_all(e, GONE)
  if ending.outcome == 'success' then
    drop_all(e, FAILURE)
  end
  record.put(e, 'public_state', ending.state)
  record.put(e, 'terminal_outcome', ending.outcome)
  record.put(e, 'changed_at', moment)
  record.put_if_given(e, 'finished_by', ending.by)
  record.put_if_given(e, 'cancellation_reason', ending.reason)
  record.put_if_given(e, 'cancelled_by', ending.requested_by)
  event_feed.to(e, 'finished', 'outcome', ending.outcome)
  hint.ended(e.id)
end
