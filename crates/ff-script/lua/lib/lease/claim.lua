--- Claims: select waiting executions, update them, and build the tasks that workers get.

local claim = {}

local function sooner(a, b)
  return a.score < b.score or a.score == b.score and a.id < b.id
end

--- Adds the result of a ZRANGE command to a list. With ageing, a wait of `weight` is worth one step of priority.
local function add(found, flat, weight, moment)
  for nth = 1, #flat, 2 do
    local score = tonumber(flat[nth + 1])
    local one = { id = flat[nth], score = score, kept = flat[nth + 1] }
    if weight then
      local behind, created_at = index.head(score, moment)
      one.score = created_at - (limits.priority_max - behind) * weight
    end
    found[#found + 1] = one
  end
end

--- Adds the oldest executions at each of the highest priorities of a queue. Jumps from one priority to the next, past everything that waits
--- at it.
local function add_aged(found, queue, max, weight, moment)
  local from = '-inf'
  for _ = 1, limits.ageing_priorities do
    local head = call('ZRANGE', queue, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if not head[1] then
      return
    end
    local behind = index.head(tonumber(head[2]), moment)
    local above, highest = index.scores(limits.priority_max - behind, moment)
    local range = { '(' .. text(above), text(highest), 'BYSCORE', 'LIMIT', 0, max + 1, 'WITHSCORES' }
    add(found, call('ZRANGE', queue, unpack(range)), weight, moment)
    from = '(' .. text(highest)
  end
end

--- Returns the requirement classes of a lane that a worker with these capabilities can run. With `assigned_to`, returns only the class of
--- work assigned to that instance.
function claim.classes(configured, capabilities, assigned_to)
  local offered, list = {}, {}
  if assigned_to then
    return { claim_grant.class(assigned_to) }
  elseif not configured or not configured.classes[1] or not capabilities[1] then
    return list
  end
  for _, capability in ipairs(capabilities) do
    offered[capability] = true
  end
  for _, class in ipairs(configured.classes) do
    local is_met = true
    for required in class:gmatch('[^,]+') do
      is_met = is_met and offered[required]
    end
    list[#list + 1] = is_met and class or nil
  end
  return list
end

--- Returns the queues of a lane to claim from, without a class and for each of these classes: one per kind, or the queue of all kinds if
--- `kinds` is empty. Also returns the class of each queue that has one, by position. With `own`, omits the queues without a class.
local function queues(lane_eligible, lane, kinds, classes, own)
  local list, class_of, seen = {}, {}, {}
  for _, kind in ipairs(kinds) do
    list[#list + 1] = not own and not seen[kind] and keys.queue(lane, kind) or nil
    seen[kind] = true
  end
  list[1] = list[1] or not own and lane_eligible or nil
  for _, class in ipairs(classes) do
    local before = #list
    for kind in pairs(seen) do
      list[#list + 1] = keys.queue(lane, kind, class)
    end
    list[before + 1] = list[before + 1] or keys.waiting(lane, class)
    for nth = before + 1, #list do
      class_of[nth] = class
    end
  end
  return list, class_of
end

--- Returns the first executions of a lane in claim order, as ids and scores in turn, one more than may be taken: of some kinds, or of any
--- if `kinds` is empty. With `ageing_ms`, a wait of that length makes up for one step of priority. Also returns the class by id, for
--- executions that have one.
function claim.first(lane_eligible, lane, kinds, classes, max, ageing_ms, moment)
  local own = claim_grant.is_class(classes[1])
  local of, class_of = queues(lane_eligible, lane, kinds, classes, own)
  return claim.merge(of, class_of, max, ageing_ms, moment)
end

--- Returns the first executions of several queues together, with the class of each that has one.
function claim.merge(of, class_of, max, ageing_ms, moment)
  if not of[2] and not ageing_ms and not class_of[1] then
    return call('ZRANGE', of[1], 0, max, 'WITHSCORES'), class_of
  end
  local found, flat, by_id = {}, {}, {}
  for nth, queue in ipairs(of) do
    local before = #found
    if ageing_ms then
      add_aged(found, queue, max, ageing_ms, moment)
    else
      add(found, call('ZRANGE', queue, 0, max, 'WITHSCORES'))
    end
    for at = before + 1, class_of[nth] and #found or 0 do
      by_id[found[at].id] = class_of[nth]
    end
  end
  table.sort(found, sooner)
  for nth = 1, math.min(#found, max + 1) do
    flat[2 * nth - 1], flat[2 * nth] = found[nth].id, found[nth].kept
  end
  return flat, by_id
end

--- The last digits of consecutive ids, cached on first use.
local digits = {}

function claim.digits(nth)
  digits[nth] = digits[nth] or string.format('%04x', nth)
  return digits[nth]
end

--- Number of payloads per read. At maximum size they are as much as one reply may carry.
local PAYLOADS_AT_ONCE = 4

--- Returns an iterator over the payload and policy of each execution. Beyond `max`, it reads one execution at a time, on demand.
function claim.payloads(waiting, max)
  local nth, read, at = 0, {}, 0
  return function()
    if at == #read then
      local names, last = {}, nth < max and math.min(nth + PAYLOADS_AT_ONCE, max) or nth + 1
      for ahead = nth + 1, math.min(last, #waiting / 2) do
        local id = waiting[2 * ahead - 1]
        names[#names + 1] = keys.of(id, 'payload')
        names[#names + 1] = keys.of(id, 'policy')
      end
      read, at = call('MGET', unpack(names)), 0
    end
    nth, at = nth + 1, at + 2
    return read[at - 1] or '', read[at]
  end
end

--- Fields of an execution that had a lease before, or whose next attempt is not the first.
local BEFORE = {
  'current_attempt_index', 'started_at', 'has_waited', 'pending_waitpoints', 'replay_reason', 'replay_requested_by',
  'progress_at', 'progress_message', 'progress_percent', 'streamed',
}

local function read_before(key)
  local before, values = {}, call('HMGET', key, unpack(BEFORE))
  for nth = 1, #BEFORE do
    before[BEFORE[nth]] = values[nth] or nil
  end
  return before
end

local DROPPED = { 'next_attempt', 'replay_reason', 'replay_requested_by' }
local DROPPED_AT_A_START = { 'progress_at', 'progress_message', 'progress_percent' }

--- Removes fields that a claimed execution no longer has.
local function drop(key, before, resumed)
  local gone = {}
  for nth = 1, 3 do
    gone[#gone + 1] = before[DROPPED[nth]] and DROPPED[nth]
    gone[#gone + 1] = not resumed and before[DROPPED_AT_A_START[nth]] and DROPPED_AT_A_START[nth] or nil
  end
  if gone[1] then
    call('HDEL', key, unpack(gone))
  end
end

--- Returns the attempt that a claim continues and true, or the fields of the attempt that it starts.
local function attempt_of(id, before, new_id)
  local index = tonumber(before.current_attempt_index)
  if before.next_attempt == 'resume' then
    local open = record.hash(keys.attempt(id, index))
    local _, attempt_id = lease.attempt_parts(open.attempt)
    open.index, open.id = index, attempt_id
    return open, true
  end
  return {
    index = index and index + 1 or 0,
    id = new_id,
    type = before.next_attempt,
    reason = before.replay_reason,
    requested_by = before.replay_requested_by,
  }
end

--- Returns the number of inputs passed on to a member of a flow, and how many bytes of them come with it.
local function inputs_of(id)
  local inputs, bytes = unpack(call('HMGET', keys.of(id, 'deps:meta'), 'inputs', 'input_bytes'))
  return tonumber(inputs or 0), math.min(tonumber(bytes or 0), limits.input_bytes)
end

--- Returns the resumption of an execution, the number of its inputs, and the bytes of signals, inputs and recorded steps that come with it.
local function beside(id, flow, has_waited, counted)
  local resumption, bytes, inputs, more = nil, 0, 0, 0
  if has_waited then
    resumption, bytes = suspension.resumption(id)
  end
  if flow then
    inputs, more = inputs_of(id)
  end
  return resumption, inputs, bytes + more + (counted and steps.claim_bytes(counted) or 0)
end

--- Cancels an execution if its flow is cancelled and does not spare it. Returns true if it did.
local function ended(id, flow, before)
  if flow_record.spares(flow, before, false) then
    return false
  end
  local e = record.find(id)
  step.cancel(e, 'flow_cancel')
  record.save(e)
  return true
end

local NOTHING = {}

--- Cancels a waiting execution if its flow is cancelled and does not spare it. Returns true if it did.
function claim.is_over(id, flow_id)
  local flow = flow_id and step.flow(flow_id)
  if not flow then
    return false
  end
  local key, before = keys.of(id, 'core'), NOTHING
  local last_attempt, next_attempt = unpack(call('HMGET', key, 'last_attempt', 'next_attempt'))
  if last_attempt or next_attempt then
    before = read_before(key)
    before.next_attempt = next_attempt or nil
  end
  return ended(id, flow, before)
end

--- Adds the fields that few leases have, and returns the new number of items. `ending` holds further facts for the end of the lease, as
--- words, some with a number. With `linked`, that end also changes records of a flow, of pending waitpoints, of a stream or of a key queue.
local function add_few(holder, attempt, linked, timeout_at, deadline_at, retention_ms, kept_until)
  local fields, n, ending = holder.fields, holder.count, holder.ending
  local function put(name, value)
    if value then
      fields[n + 1], fields[n + 2], n = name, value, n + 2
    end
  end
  local function note(word, number)
    if number then
      ending = ending .. ' ' .. word .. ':' .. text(number)
    end
  end
  put('timeout_at', timeout_at)
  put('deadline_at', deadline_at)
  put('type', attempt.type)
  put('reason', attempt.reason)
  put('requested_by', attempt.requested_by)
  put('started_at', attempt.started_at)
  put('ran_ms', attempt.ran_ms)
  note('index', attempt.index)
  note('ran', attempt.ran_ms)
  note('timeout', timeout_at)
  note('kept', retention_ms)
  note('until', kept_until)
  put('slots', holder.slots)
  ending = ending .. (linked and ' linked' or '') .. (holder.slots and ' slots' or '')
  put('ending', ending ~= '' and ending)
  return n
end

--- Hands one waiting execution to a worker, and appends its task to `tasks`: id, epoch, attempt index, kind, creation time and payload, then
--- further fields as name and value pairs. Returns true; nil if the execution does not exist. The second result is the number of bytes of
--- signals, inputs and steps that come with the task; without a task, the number that did not fit into `bytes_left`. The third result is
--- true if the execution ended instead, because its flow is cancelled.
---
--- `score` encodes priority and creation time. The execution is added to `taken`, which holds ids by kind, class and key, so that their
--- indexes are written together. The lease repeats the data that its end needs, so that ending it reads nothing else.
function claim.take(tasks, id, score, class, payload, policy_json, lane, holder, lease_id, attempt_id, taken, bytes_left, moment)
  local key = keys.of(id, 'core')
  local kind, flow_id, last_attempt, next_attempt, tags, content_type, deadline_at, timeout_ms, keyed, retention_ms,
    traceparent, counted, queue_key = unpack(call(
      'HMGET', key, 'kind', 'flow_id', 'last_attempt', 'next_attempt', 'tags', 'content_type', 'deadline_at',
      'attempt_timeout_ms', 'idempotency_key', 'lane_retention_ms', 'traceparent', 'steps', 'queue_key'
    ))
  if not kind then
    return nil
  end
  local before, attempt, resumed, node = NOTHING, NOTHING, false, nil
  if last_attempt or next_attempt then
    before = read_before(key)
    before.next_attempt = next_attempt or nil
  end
  local flow = flow_id and step.flow(flow_id)
  if flow then
    if ended(id, flow, before) then
      return nil, nil, true
    end
    node = call('HGET', key, 'node')
  end
  local resumption, inputs, bytes = nil, 0, 0
  if flow or before.has_waited or counted then
    resumption, inputs, bytes = beside(id, flow, before.has_waited, counted)
    if bytes_left and bytes > bytes_left then
      return nil, bytes
    end
  end
  local epoch = '1'
  if before ~= NOTHING then
    attempt, resumed = attempt_of(id, before, attempt_id)
    attempt_id, epoch = attempt.id, last_attempt and lease.attempt_parts(last_attempt) + 1 or epoch
  end
  local attempt_index, timeout_at = attempt.index or 0, nil
  if timeout_ms then
    timeout_at = moment + math.max(0, tonumber(timeout_ms) - (attempt.ran_ms or 0))
    index.time_out(timeout_at, id)
  end
  local behind, created_at = index.head(tonumber(score), moment)
  local rules = policy_json and policy.read(policy_json)
  retention_ms = rules and rules.retention_ms or retention_ms
  local kept_until = keyed and created_at + policy.read(policy_json).dedup_window_ms

  local held, n = holder.fields, holder.count
  held[2], held[4] = lease_id, lease.attempt_text(epoch, attempt_id)
  if holder.ending ~= '' or holder.slots or attempt ~= NOTHING or flow or timeout_at or deadline_at or retention_ms or kept_until or queue_key then
    local linked = flow or before.pending_waitpoints or before.streamed or queue_key
    n = add_few(holder, attempt, linked, timeout_at, deadline_at, retention_ms, kept_until)
  end
  if claim_grant.is_class(class) then
    claim_grant.use(lane, id)
  end
  call('HSET', keys.of(id, 'lease:current'), unpack(held, 1, n))
  call(
    'HSET', key, 'public_state', 'active', 'current_attempt_index', attempt_index, 'current_worker_instance_id',
    holder.instance, 'started_at', before.started_at or holder.acquired_at
  )
  if before ~= NOTHING then
    drop(key, before, resumed)
  end
  if before.streamed then
    hint.streamed(id)
  end
  if event_feed.is_followed() then
    local event = resumed and 'resumed' or 'started'
    event_feed.about(id, lane, kind, flow_id, 'event', event, 'attempt', text(attempt_index))
  end
  local queue = class and kind .. ' ' .. class or kind
  if holder.key then
    queue = queue .. '\n' .. holder.key
  end
  local ids = taken[queue]
  if ids then
    ids[#ids + 1] = id
  else
    taken[queue] = { id, kind = kind, class = class, key = holder.key }
  end
  if flow then
    flow_record.moved(flow, id, node, 'waiting', 'active')
    call('HSET', keys.flow(flow.id, 'member:' .. id), 'state', 'active')
  end

  n = #tasks
  tasks[n + 1], tasks[n + 2], tasks[n + 3], tasks[n + 4], tasks[n + 5], tasks[n + 6] =
    id, epoch, attempt_index, kind, created_at, payload
  append(tasks, 'priority', behind < limits.priority_max and limits.priority_max - behind)
  append(tasks, 'content_type', content_type)
  append(tasks, 'policy', policy_json)
  append(tasks, 'tags', tags == '1' and tag.all(id, tags) or tags)
  append(tasks, 'deadline_at', deadline_at)
  append(tasks, 'trace', traceparent and { traceparent, call('HGET', key, 'tracestate') or nil })
  if attempt ~= NOTHING then
    append(tasks, 'resumed', resumed and attempt.id)
    append(tasks, 'type', attempt.type)
    append(tasks, 'reason', attempt.reason)
    append(tasks, 'requested_by', attempt.requested_by)
  end
  append(tasks, 'resumption', resumption and suspension.fields(resumption))
  append(tasks, 'flow', flow and { flow.id, node, inputs })
  if counted then
    append(tasks, 'steps', steps.page(id, steps.counter(counted), nil, limits.page, limits.claim_step_bytes))
  end
  append(tasks, 'inputs', inputs > 0 and { meta.inputs(id, nil, limits.input_bytes) })
  return true, bytes
end

--- Writes the indexes of the taken executions.
function claim.hold(lane, holder, taken)
  for _, ids in pairs(taken) do
    index.hold_all(lane, ids.kind, ids.class, ids.key, holder.instance, holder.acquired_at, holder.expires_at, ids)
  end
end

return claim
