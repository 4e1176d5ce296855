--- The phases of an execution besides being leased: waiting, delayed until a time, suspended, or blocked.

local phase = {}

local function unblock(e)
  record.drop(e, 'blocked_on')
  record.drop(e, 'blocked_until')
  record.drop(e, 'blocking_detail')
  e.grant = nil
end

--- Makes an execution ready: it waits for a worker, or is blocked by the operator who holds it, or by the execution ahead of it under its
--- singleton key.
function phase.waiting(e, moment)
  record.put(e, 'public_state', 'waiting')
  record.put(e, 'changed_at', moment)
  record.drop(e, 'delayed_until')
  record.drop(e, 'delayed_why')
  unblock(e)
  if e.core.held_at then
    record.put(e, 'blocked_on', 'operator')
  elseif e.core.behind then
    record.put(e, 'public_state', 'rate_limited')
    record.put(e, 'blocked_on', 'quota')
  end
end

--- The blocking reasons of admission, and their public states.
local REASONS = {
  route = 'waiting_for_capable_worker',
  quota = 'waiting_for_quota',
  budget = 'waiting_for_budget',
  operator = 'paused_by_operator',
  assignment = 'waiting_for_locality_match',
}
local STATES = { route = 'waiting', quota = 'rate_limited', budget = 'rate_limited' }

--- Returns the blocking reason of an execution that admission blocks, or nil.
function phase.reason(blocked_on)
  return REASONS[blocked_on or '']
end

--- Returns true if only admission keeps an execution from being claimed.
function phase.is_ready(e)
  return e.core.public_state == 'waiting' or e.core.public_state == 'rate_limited'
end

--- Blocks a ready execution by admission, until a time if that is known. Returns false if the blocker is unknown.
function phase.keep_back(e, on, until_ms, detail, moment)
  if not STATES[on] then
    return false
  end
  unblock(e)
  record.put(e, 'public_state', STATES[on])
  record.put(e, 'changed_at', moment)
  record.put(e, 'blocked_on', on)
  record.put_if_given(e, 'blocked_until', until_ms)
  record.put(e, 'blocking_detail', detail)
  event_feed.to(e, 'blocked', 'reason', REASONS[on])
  return true
end

--- Makes an execution ready for one worker instance, as a grant says.
function phase.assigned(e, grant, moment)
  phase.waiting(e, moment)
  record.put(e, 'blocked_on', 'assignment')
  record.put(e, 'blocked_until', grant.expires_at)
  e.grant = grant
  event_feed.to(e, 'blocked', 'reason', REASONS.assignment)
end

--- Unblocks an execution that admission blocked.
function phase.admit(e, moment)
  event_feed.to(e, 'unblocked', 'reason', REASONS[e.core.blocked_on])
  phase.waiting(e, moment)
end

--- Delays an execution until a time, or makes it ready if that time is not in the future.
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

--- Blocks an execution, by its upstreams if `on` is nil. Otherwise the rest of its submission has to come, or its dependents must be
--- notified of its replay. With `until_ms` it does not start before that time.
function phase.blocked(e, on, until_ms, moment)
  record.put(e, 'public_state', 'waiting_children')
  record.put(e, 'changed_at', moment)
  record.drop(e, 'delayed_until')
  record.drop(e, 'delayed_why')
  unblock(e)
  record.put_if_given(e, 'blocked_on', on)
  record.put_if_given(e, 'blocked_until', until_ms)
end

--- Suspends an execution at a waitpoint, and perhaps at others. The same attempt goes on afterwards.
function phase.suspended(e, waitpoint_id, moment)
  record.put(e, 'public_state', 'suspended')
  record.put(e, 'changed_at', moment)
  record.put(e, 'next_attempt', 'resume')
  record.put(e, 'current_waitpoint_id', waitpoint_id)
end

--- Returns the start time of work that is to start after a delay, at a time, or at once.
function phase.start(in_ms, at_ms, moment)
  return math.max(in_ms and moment + in_ms or at_ms or moment, moment)
end

return phase
