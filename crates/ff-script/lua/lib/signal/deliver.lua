--- Delivers a signal authorized by a token. Verifies the token before it reads or reveals the state of the execution. A repeated signal
--- gets the id of the first one, even if the execution has ended since.

--- Returns the state of a waitpoint that accepts signals; otherwise nil and the refusal.
local function receptive(e, waitpoint, moment)
  if e.core.terminal_outcome then
    return nil, no.target_not_signalable('state', e.core.public_state)
  end
  local state = waitpoint_record.state(e, waitpoint, moment)
  if state == 'expired' then
    return nil, no.pending_waitpoint_expired()
  elseif state == 'closed' then
    return nil, no.waitpoint_closed()
  end
  return state
end

local function over(field, limit, count)
  return no.signal_limit_exceeded('field', field, 'limit', text(limit), 'sent', text(count + 1))
end

--- Returns the number of signals stored for the pending waitpoints of an execution. One suspension may evaluate them all.
local function kept_early(e, moment)
  local kept = 0
  for _, one in ipairs(pending.live(e, moment)) do
    kept = kept + call('LLEN', keys.waitpoint_signals(one.id))
  end
  return kept
end

--- Counts a signal towards the condition, and releases the execution when the condition is met.
local function count(e, sent, moment)
  local tree, key = condition.read(e.suspension.condition), keys.of(e.id, 'suspension:tally')
  local delay_ms, all = suspension.policy(e.suspension)
  local counted, changed = tally.around(key, tree, sent), {}
  local concerned = tally.concerned(condition.leaves(tree), sent.waitpoint_key)
  local effect, counts = tally.weigh(counted, changed, concerned, all, sent)
  if counts and tally.meets(counted, tree) then
    local signals = suspension.resumption_signals(e, counted)
    sent.effect = 'resume_condition_satisfied'
    signal.record(e, sent, moment)
    suspension.release(e, { how = 'satisfied' }, signals, delay_ms, moment)
    return record.save(e)
  end
  sent.effect = effect
  signal.record(e, sent, moment)
  if changed[1] then
    call('HSET', key, unpack(changed))
  end
end

return function(id, shown, sent, only_pending, moment)
  local waitpoint = waitpoint_record.read(id, shown.waitpoint_id)
  local refusal = ring.verify(waitpoint, shown.kid, shown.mac, shown.mark, moment)
  local e = not refusal and record.load(id)
  if not e then
    return refusal or no.invalid_token()
  end
  local first = sent.idempotency_key and signal.first(waitpoint.id, sent.idempotency_key, moment)
  if first then
    return { 1, 'DUPLICATE', first, 'duplicate' }
  end
  local state, closed = receptive(e, waitpoint, moment)
  if not state then
    return closed
  elseif only_pending and state ~= 'pending' then
    return no.waitpoint_not_pending()
  end
  local taken = signal.count(id)
  if taken >= limits.signals then
    return over('signals', limits.signals, taken)
  end
  local kept = state == 'pending' and kept_early(e, moment) or 0
  if kept >= limits.buffered_signals then
    return over('buffered', limits.buffered_signals, kept)
  end
  sent.waitpoint_id, sent.waitpoint_key, sent.bytes = waitpoint.id, waitpoint.key, #sent.payload
  if state == 'active' then
    count(e, sent, moment)
  else
    sent.effect = 'buffered_for_pending_waitpoint'
    signal.record(e, sent, moment)
  end
  return ok(sent.id, sent.effect)
end
