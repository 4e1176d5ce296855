--- Where an execution stands, besides being held: waiting, delayed until a moment, suspended, or blocked.

local phase = {}

local function unblock(e)
  record.drop(e, 'blocked_on')
  record.drop(e, 'blocked_until')
end

--- Waits for a worker.
function phase.waiting(e, moment)
  record.put(e, 'public_state', 'waiting')
  record.put(e, 'changed_at', moment)
  record.drop(e, 'delayed_until')
  record.drop(e, 'delayed_why')
  unblock(e)
end

--- Waits for a moment, or for a worker when the moment is not in the future.
function phase.delayed(e, until_ms, why, moment)
  if until_ms <= moment then
    return phase.waiting(e, moment)
  end
  record.put(e, 'public_state', 'delayed')
  record.put(e, 'changed_at', moment)
  record.put(e, 'delayed_until', until_ms)
  record.put(e, 'delayed_why', why)
  unblock(e)
end

--- Waits for something else to happen first: for its upstreams, when nothing else is said; for the rest of the submission it
--- is a part of, or for its dependents to learn that it runs again. And not before a moment, when it has one.
function phase.blocked(e, on, until_ms, moment)
  record.put(e, 'public_state', 'waiting_children')
  record.put(e, 'changed_at', moment)
  record.drop(e, 'delayed_until')
  record.drop(e, 'delayed_why')
  record.drop(e, 'blocked_on')
  record.put_if_said(e, 'blocked_on', on)
  record.drop(e, 'blocked_until')
  record.put_if_said(e, 'blocked_until', until_ms)
end

--- Waits for people or the outside world, at a waitpoint and perhaps at others; the same attempt goes on then.
function phase.suspended(e, waitpoint_id, moment)
  record.put(e, 'public_state', 'suspended')
  record.put(e, 'changed_at', moment)
  record.put(e, 'next_attempt', 'resume')
  record.put(e, 'current_waitpoint_id', waitpoint_id)
end

--- The moment something may start that was asked to start after a while, at a moment, or at once.
function phase.start(in_ms, at_ms, moment)
  return math.max(in_ms and moment + in_ms or at_ms or moment, moment)
end

return phase
