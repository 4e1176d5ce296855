--- Suspends executions: refusals, repeated answers, and writes.

local suspend = {}

local function is_policy(json)
  local read, policy = pcall(cjson.decode, json)
  if not read or type(policy) ~= 'table' then
    return false
  end
  for name, value in pairs(policy) do
    local delay = name == 'resume_delay_ms' and type(value) == 'number' and whole(value)
    if not (delay and delay <= limits.span_max_ms or name == 'signals' and (value == 'matched' or value == 'all')) then
      return false
    end
  end
  return true
end

--- Returns the refusal of an invalid suspension, whatever the execution.
function suspend.refusal(reason_code, requested_by, timeout_behavior, condition_json, policy_json)
  if not printable(reason_code) then
    return no.invalid_input('field', 'reason_code')
  elseif not printable(requested_by) then
    return no.invalid_input('field', 'requested_by')
  elseif not limits.timeout_behaviors[timeout_behavior] then
    return no.invalid_input('field', 'timeout_behavior')
  elseif not condition.read(condition_json) then
    return no.invalid_json('field', 'resume_condition_json')
  elseif policy_json and not is_policy(policy_json) then
    return no.invalid_policy_json('field', 'resume_policy')
  end
end

--- Returns the answer: the suspension, and id, key and token of each waitpoint. With `signals` the suspension never began, because these
--- signals satisfied it.
local function answer(suspension_id, granted, signals)
  local reply = { 1, signals and 'ALREADY_SATISFIED' or 'OK', suspension_id }
  for nth, one in ipairs(granted) do
    for _, word in ipairs(one) do
      reply[#reply + 1] = word
    end
    if nth == 1 then
      reply[#reply + 1] = text(#granted - 1)
    end
  end
  reply[#reply + 1] = signals or nil
  return reply
end

--- Returns the first answer again, from the stored waitpoints.
local function answer_again(id, suspension_id, ids, signals)
  local granted = {}
  for nth, waitpoint_id in ipairs(ids) do
    local waitpoint = waitpoint_record.read(id, waitpoint_id)
    if not waitpoint then
      return no.waitpoint_not_found()
    end
    granted[nth] = { waitpoint_record.granted(waitpoint) }
  end
  return answer(suspension_id, granted, signals)
end

--- Returns the first answer under an idempotency key, while the key is remembered.
function suspend.under_key(id, idempotency_key, moment)
  local first = record.hash(keys.suspend_dedup(id, idempotency_key))
  if first and moment < tonumber(first.remembered_until) then
    local signals = first.outcome == 'already_satisfied' and split(first.signals)
    return answer_again(id, first.suspension_id, split(first.waitpoints), signals)
  end
end

local function ids_of(bound)
  local ids = {}
  for nth, one in ipairs(bound) do
    ids[nth] = one.id
  end
  return ids
end

--- Returns the first answer again, to a holder whose reply was lost.
function suspend.again(e)
  local kept = e.suspension or suspension.last(e)
  return answer_again(e.id, kept.suspension_id, ids_of(suspension.bound(kept)))
end

--- Returns the first reply if this lease was told before that its condition is already met. Its waitpoints are used up, so another
--- evaluation would not find that out.
function suspend.satisfied_before(e, bindings)
  local last = suspension.last(e)
  local epoch = lease.attempt_parts(e.lease.attempt)
  if not last or last.how ~= 'already_satisfied' or last.lease_epoch ~= epoch then
    return nil
  end
  local ids = ids_of(suspension.bound(last))
  for _, id in ipairs(ids) do
    for _, one in ipairs(bindings) do
      if one.pending and one.id == id then
        return answer_again(e.id, last.suspension_id, ids, suspension.delivered_ids(last))
      end
    end
  end
end

--- Evaluates early signals, waitpoint by waitpoint, in the order they came to each. Returns the counted signals as the fields of a hash,
--- and the signals for the worker if they meet the condition. Signals that no leaf could count any more are not read.
local function count_early(kept, bindings)
  local tree = condition.read(kept.condition)
  local leaves = condition.leaves(tree)
  local _, all = suspension.policy(kept)
  local counted, changed = {}, {}
  for _, one in ipairs(bindings) do
    local concerned = tally.concerned(leaves, one.key)
    local wanted = one.pending and (all or tally.wants(counted, concerned))
    for _, id in ipairs(wanted and signal.early(one) or {}) do
      local _, counts = tally.weigh(counted, changed, concerned, all, signal.weighed(id, one))
      if counts and not (all or tally.wants(counted, concerned)) then
        break
      end
    end
  end
  return changed, tally.meets(counted, tree) and tally.resumption_signals(counted, tree, all)
end

local GRACE_MS = 60000

--- Remembers the answer under an idempotency key. The stored time decides whether it is still remembered. The expiry only collects garbage,
--- a little later.
local function remember_answer(id, idempotency_key, ttl_ms, kept, bindings, signals, moment)
  local key = keys.suspend_dedup(id, idempotency_key)
  local fields = { 'suspension_id', kept.suspension_id, 'remembered_until', moment + ttl_ms }
  append(fields, 'outcome', signals and 'already_satisfied' or 'suspended')
  append(fields, 'waitpoints', table.concat(ids_of(bindings), ' '))
  append(fields, 'signals', signals and signals[1] and table.concat(signals, ' '))
  call('DEL', key)
  call('HSET', key, unpack(fields))
  if limits.forgets then
    call('PEXPIRE', key, ttl_ms + GRACE_MS)
  end
end

--- Suspends an execution, unless its condition is already met, and returns the answer.
function suspend.begin(e, kept, bindings, idempotency_key, ttl_ms, moment)
  local changed, resumption = count_early(kept, bindings)
  local used, granted = {}, {}
  for nth, one in ipairs(bindings) do
    used[one.id], granted[nth] = true, { one.id, one.key, one.token }
  end
  binding.use(e, bindings, kept.suspension_id, idempotency_key, moment)
  if e.core.pending_waitpoints then
    pending.keep(e, pending.live(e, moment, used))
  end
  local signals
  if resumption then
    suspension.past(e, kept, { how = 'already_satisfied' }, resumption, moment)
    signals = ids_of(resumption)
  else
    event_feed.to(e, 'suspended')
    lease.finish(e, 'suspended', nil, nil, nil, moment)
    suspension.begin(e, kept, changed, moment)
  end
  record.save(e)
  if idempotency_key then
    remember_answer(e.id, idempotency_key, ttl_ms, kept, bindings, signals, moment)
  end
  return answer(kept.suspension_id, granted, signals)
end

return suspend
