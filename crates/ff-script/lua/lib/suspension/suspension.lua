--- Suspensions: the record of the current one, its end, and the record of the last one.

local suspension = {}

local RESUMED_BY = { already_satisfied = 'signals', satisfied = 'signals', operator = 'operator', timed_out = 'timeout' }

--- Returns the waitpoints of a suspension as one text, in the order the holder named them.
function suspension.bound_text(bound)
  local lines = {}
  for nth, one in ipairs(bound) do
    lines[nth] = one.id .. ' ' .. one.key
  end
  return table.concat(lines, '\n')
end

--- Returns the waitpoints of a stored suspension.
function suspension.bound(kept)
  local bound = {}
  for id, key in kept.waitpoints:gmatch('(%S+) ([^\n]+)') do
    bound[#bound + 1] = { id = id, key = key }
  end
  return bound
end

--- Returns the resume policy of a suspension: its delay, and whether all signals are delivered.
function suspension.policy(kept)
  local policy = kept.policy and cjson.decode(kept.policy) or {}
  return policy.resume_delay_ms or 0, policy.signals == 'all'
end

local function flat(fields)
  local list = {}
  for name, value in pairs(fields) do
    append(list, name, value)
  end
  return list
end

--- Suspends an execution whose lease has ended. `counted` holds the tally fields of early signals.
function suspension.begin(e, fields, counted, moment)
  e.suspension = fields
  call('HSET', keys.of(e.id, 'suspension:current'), unpack(flat(fields)))
  for first = 1, #counted, 1000 do
    call('HSET', keys.of(e.id, 'suspension:tally'), unpack(counted, first, math.min(first + 999, #counted)))
  end
  phase.suspended(e, suspension.bound(fields)[1].id, moment)
end

--- Returns the last suspension that is over, or nil.
function suspension.last(e)
  if e.core.has_waited and e.last == nil then
    e.last = record.hash(keys.of(e.id, 'suspension:last')) or false
  end
  return e.last or nil
end

--- Stores a suspension that is over. `ended` says how, `signals` holds the signals for its worker.
function suspension.past(e, kept, ended, signals, moment)
  local epoch = lease.attempt_parts(e.lease and e.lease.attempt or e.core.last_attempt)
  local fields = { 'suspension_id', kept.suspension_id, 'waitpoints', kept.waitpoints, 'lease_epoch', epoch }
  append(fields, 'ended_at', moment)
  append(fields, 'continuation', kept.continuation)
  append(fields, 'paused_by_budget', kept.reason_code == 'paused_by_budget' and '1')
  for name, value in pairs(ended) do
    append(fields, name, value)
  end
  local lines = {}
  for nth, one in ipairs(signals) do
    lines[nth] = one.id .. ' ' .. text(one.bytes)
  end
  append(fields, 'signals', lines[1] and table.concat(lines, '\n'))
  local last = keys.of(e.id, 'suspension:last')
  call('DEL', keys.of(e.id, 'suspension:current'), keys.of(e.id, 'suspension:tally'), last)
  call('HSET', last, unpack(fields))
  e.suspension, e.last = nil, nil
end

--- Returns the signals that would be delivered if the suspension ended now. `counted` holds counted signals that are not written yet.
function suspension.resumption_signals(e, counted)
  local all = record.hash(keys.of(e.id, 'suspension:tally')) or {}
  for name, value in pairs(counted or {}) do
    all[name] = value
  end
  local _, everything = suspension.policy(e.suspension)
  return tally.resumption_signals(all, condition.read(e.suspension.condition), everything)
end

--- Releases a suspended execution after a delay. This alone closes its waitpoints, because their suspension no longer exists.
function suspension.release(e, ended, signals, delay_ms, moment)
  event_feed.to(e, 'released', 'by', RESUMED_BY[ended.how])
  suspension.past(e, e.suspension, ended, signals, moment)
  record.drop(e, 'current_waitpoint_id')
  phase.delayed(e, moment + delay_ms, 'resume', moment)
end

--- Releases an execution with an internal signal, recorded at its first waitpoint after the signals counted so far.
function suspension.release_with(e, ended, sent, delay_ms, moment)
  local signals = suspension.resumption_signals(e)
  signals[#signals + 1] = { id = sent.id, bytes = sent.bytes }
  sent.waitpoint_id, sent.effect = suspension.bound(e.suspension)[1].id, 'resume_condition_satisfied'
  signal.record(e, sent, moment)
  suspension.release(e, ended, signals, delay_ms or suspension.policy(e.suspension), moment)
end

--- Releases an execution on timeout. A suspension times out once, so its id serves the signal as well.
local function auto_resume(e, moment)
  local sent = { id = e.suspension.suspension_id, name = 'timeout', source_type = 'engine', bytes = 0 }
  suspension.release_with(e, { how = 'timed_out' }, sent, nil, moment)
end

--- Hands a suspension to an operator. Its waitpoints stay open, and its timeout does not come again.
local function escalate(e, moment)
  local current = keys.of(e.id, 'suspension:current')
  call('HDEL', current, 'timeout_at')
  call('HSET', current, 'escalated_at', moment)
  e.suspension.timeout_at, e.suspension.escalated_at = nil, moment
  index.untime(e.id)
  event_feed.to(e, 'escalated')
end

local ENDS = { fail = 'failed', cancel = 'cancelled', expire = 'expired' }

--- Applies the timeout behavior that the holder chose for its suspension.
function suspension.expire(e, moment)
  local behavior = e.suspension.timeout_behavior
  local outcome = ENDS[behavior]
  if not outcome then
    local act = behavior == 'escalate' and escalate or auto_resume
    return act(e, moment)
  end
  local ending = { outcome = outcome, state = outcome, by = 'suspension_timeout', attempt = 'suspension_timed_out' }
  if behavior == 'fail' then
    local waited = text(math.max(0, moment - e.suspension.suspended_at))
    ending.failure = failure('suspension_timeout', 'suspended for ' .. waited .. ' ms, and nothing ended it in time')
  end
  finish(e, ending, moment)
end

--- Hands nothing on any more: a replay does not go on from an earlier suspension.
function suspension.forget(e)
  if suspension.last(e) then
    local last = keys.of(e.id, 'suspension:last')
    call('HSET', last, 'how', 'execution_ended')
    call('HDEL', last, 'signals', 'continuation', 'decision', 'trigger_type', 'requested_by', 'reason')
  end
end

--- Returns the ids of the signals that a past suspension delivered to its worker.
function suspension.delivered_ids(last)
  local ids = {}
  for id in (last.signals or ''):gmatch('(%S+) %d+') do
    ids[#ids + 1] = id
  end
  return ids
end

--- Returns the resumption a worker gets of the last suspension, and how many bytes of signals come with it.
function suspension.resumption(id)
  local last = record.hash(keys.of(id, 'suspension:last'))
  local by = last and RESUMED_BY[last.how]
  if not by then
    return nil, 0
  end
  local ids, with_payload, total, full = {}, 0, 0, false
  for signal_id, size in (last.signals or ''):gmatch('(%S+) (%d+)') do
    local bytes = tonumber(size)
    full = full or with_payload > 0 and total + bytes > limits.resume_bytes
    if not full then
      total, with_payload = total + bytes, with_payload + 1
    end
    ids[#ids + 1] = signal_id
  end
  local fields = { last.suspension_id, by, text(last.ended_at), last.continuation or false, text(with_payload) }
  return { fields = fields, ids = ids, with_payload = with_payload }, total
end

--- Returns the whole resumption, with its signals.
function suspension.fields(resumption)
  local signals = {}
  for nth, id in ipairs(resumption.ids) do
    signals[nth] = signal.read(id, nth <= resumption.with_payload)
  end
  local fields = resumption.fields
  fields[#fields + 1] = signals
  return fields
end

return suspension
