--- After a failure: another attempt if the policy allows one, otherwise the end.

local retry = {}

local function may_retry(rules, core, failure)
  local categories = rules.retryable_categories or {}
  local named = #categories == 0
  for _, category in ipairs(categories) do
    named = named or category == failure.failure_category
  end
  return not failure.failure_permanent and named and (core.retries or 0) < rules.max_retries
end

local function grown(backoff, retries)
  local delay = backoff.initial_delay_ms
  for _ = 1, retries do
    if delay >= backoff.max_delay_ms or backoff.multiplier <= 1 then
      break
    end
    delay = delay * backoff.multiplier
  end
  return math.min(math.floor(delay), backoff.max_delay_ms)
end

--- Returns the delay before the next attempt. With jitter it is anything up to the whole delay.
local function wait(backoff, retries, jitter)
  local delay = backoff.type == 'fixed' and backoff.delay_ms or grown(backoff, retries)
  if backoff.jitter then
    return math.floor((delay + 1) * jitter / limits.jitter_scale)
  end
  return delay
end

--- Schedules a retry or ends the execution. `cause` has the `outcome` of the attempt, how its `lease` ended, the cause of the end if the
--- execution ends (`by`), and whether the holder is told when the next attempt is (`reports_retry`).
local function retry_or_finish(e, failure, cause, jitter, moment)
  local rules, retries = policy.of(e).retry_policy, e.core.retries or 0
  if not may_retry(rules, e.core, failure) then
    local outcome, by = cause.outcome, cause.by
    local ending = { outcome = 'failed', state = 'failed', by = by, lease = cause.lease, attempt = outcome }
    ending.failure = failure
    return finish(e, ending, moment)
  end
  local retry_at = moment + wait(rules.backoff, retries, jitter)
  event_feed.to(e, 'retry_scheduled', 'at', text(retry_at))
  lease.finish(e, cause.lease, cause.reports_retry and retry_at, cause.outcome, failure, moment)
  phase.delayed(e, retry_at, 'backoff', moment)
  record.put(e, 'next_attempt', 'retry')
  record.put(e, 'retries', retries + 1)
end

--- Handles a failure that the holder reported.
function retry.failed(e, failure, jitter, moment)
  local cause = { outcome = 'failure', lease = 'failed', reports_retry = true }
  retry_or_finish(e, failure, cause, jitter, moment)
end

--- Handles an attempt that ran longer than it may, which counts as a failure.
function retry.timed_out(e, jitter, moment)
  local message = 'the attempt ran longer than ' .. text(e.core.attempt_timeout_ms or 0) .. ' ms'
  local cause = { outcome = 'timed_out', lease = 'timed_out', by = 'attempt_timeout' }
  retry_or_finish(e, failure('timeout', message), cause, jitter, moment)
end

return retry
