--- Leases: which worker holds an execution, and how that ends.
---
--- A fence is stored as two texts: the lease id, and the epoch and attempt id with a space between. A longer text would make its hash
--- several times as large.

local lease = {}

--- Endings by which a holder loses its lease instead of giving it up.
local LOSSES = { expired = true, revoked = true, timed_out = true, cancelled = true, deadline_passed = true }

function lease.attempt_text(lease_epoch, attempt_id)
  return lease_epoch .. ' ' .. attempt_id
end

--- Returns the epoch and the attempt id of the second text.
function lease.attempt_parts(attempt)
  return attempt:match('^(%S+) (%S+)$')
end

--- Returns true if the epoch of such a text is the first.
function lease.is_first(attempt)
  return attempt:sub(1, 2) == '1 '
end

--- Cache for `lease.instance`, because calls come from the same holder again and again. The text of a holder is the worker's name and the
--- instance's, with a space between.
local last_holder, last_instance

function lease.instance(holder)
  if holder ~= last_holder then
    last_holder, last_instance = holder, holder:match('^%S+ (%S+)$')
  end
  return last_instance
end

--- Returns the refusal for an execution without a lease.
function lease.not_active(e)
  return no.execution_not_active('state', e.core.public_state)
end

--- Returns how the last lease ended; `completed` if no other ending is stored.
function lease.ended(core)
  return core.last_lease_ended or 'completed'
end

--- Returns the refusal for a fence that does not hold an execution. If this fence gave the lease up, also returns how, and the execution.
function lease.refusal(id, lease_id, attempt)
  local e = record.load(id)
  if not e then
    return no.execution_not_found()
  elseif e.lease then
    local same = e.lease.lease_id == lease_id and e.lease.attempt == attempt
    return same and no.lease_expired() or no.stale_lease()
  elseif not e.core.last_lease_id then
    return lease.not_active(e)
  elseif e.core.last_lease_id ~= lease_id or e.core.last_attempt ~= attempt then
    return no.stale_lease()
  end
  local ended = lease.ended(e.core)
  if ended == 'expired' or ended == 'timed_out' then
    return no.lease_expired()
  elseif ended == 'revoked' then
    return no.lease_revoked()
  end
  return lease.not_active(e), ended, e
end

--- Returns the execution if a fence holds it; otherwise nil and the results of `lease.refusal`.
function lease.held(id, lease_id, attempt, moment)
  local e = record.load(id)
  local held = e and e.lease
  if held and held.lease_id == lease_id and held.attempt == attempt and moment < held.expires_at then
    return e
  end
  return nil, lease.refusal(id, lease_id, attempt)
end

--- Returns the execution if a worker holds it and its attempt has this index; otherwise nil and the refusal. For callers that know no
--- fence.
function lease.held_as(id, attempt_index, moment)
  local e = record.load(id)
  if not e then
    return nil, no.execution_not_found()
  elseif not e.lease then
    return nil, lease.not_active(e)
  elseif e.core.current_attempt_index ~= attempt_index then
    return nil, no.stale_lease()
  elseif moment >= e.lease.expires_at then
    return nil, no.lease_expired()
  end
  return e
end

--- Returns the fields that an attempt gets when its lease ends.
local function attempt_of(held, moment)
  local ran_ms = (held.ran_ms or 0) + math.max(0, moment - held.acquired_at)
  local attempt = { 'attempt', held.attempt, 'holder', held.holder }
  append(attempt, 'started_at', held.started_at or held.acquired_at)
  append(attempt, 'ran_ms', ran_ms)
  append(attempt, 'type', held.type)
  append(attempt, 'reason', held.reason)
  append(attempt, 'requested_by', held.requested_by)
  return attempt
end

--- Returns the line of the history for a lease that ended.
local function event(e, held, ending, until_ms, moment)
  local words = { text(e.core.current_attempt_index), held.lease_id, held.attempt, held.holder }
  words[#words + 1] = text(held.acquired_at)
  words[#words + 1] = text(moment)
  words[#words + 1] = ending
  words[#words + 1] = until_ms and text(until_ms)
  return table.concat(words, ' ')
end

--- Adds a reason to a line of the history, as the rest of the line. `-` stands for the missing time.
function lease.because(line, reason)
  return reason and line .. ' - ' .. reason or line
end

--- Ends the lease as `ending` says. `until_ms` is the time until which that ending delays the execution, if it does.
---
--- `outcome` also ends the attempt, with the failure if there is one. Without it the attempt stays open.
function lease.finish(e, ending, until_ms, outcome, failure, moment)
  local held = e.lease
  record.put(e, 'last_lease_id', held.lease_id)
  record.put(e, 'last_attempt', held.attempt)
  record.drop(e, 'last_lease_ended')
  record.put_if_given(e, 'last_lease_ended', ending ~= 'completed' and ending)
  record.drop(e, 'last_lease_until')
  record.put_if_given(e, 'last_lease_until', until_ms)
  e.attempt = attempt_of(held, moment)
  if outcome then
    append(e.attempt, 'ended_at', moment)
    append(e.attempt, 'outcome', outcome)
  end
  blame(e, failure)
  if LOSSES[ending] then
    hint.lost(e.id, held, ending)
  end
  if LOSSES[ending] or not outcome then
    e.event = event(e, held, ending, until_ms, moment)
  end
  e.lease = nil
end

return lease
