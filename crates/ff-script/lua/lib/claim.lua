--- Taking waiting executions: which come first, what becomes of them, and what the worker is told.

local claim = {}

local function sooner(a, b)
  return a.score < b.score or a.score == b.score and a.id < b.id
end

--- Adds what a command found to a list. `weight` is what a wait as long as one step of priority takes, where age counts.
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

--- The oldest at each of the highest priorities of a queue: from each priority to the next, past everything that waits at it.
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

--- The queues of a lane for some kinds, or the one for any when none is named.
local function queues(lane_eligible, lane, kinds)
  local list, seen = {}, {}
  for _, kind in ipairs(kinds) do
    list[#list + 1] = not seen[kind] and keys.queue(lane, kind) or nil
    seen[kind] = true
  end
  return list[1] and list or { lane_eligible }
end

--- The first of a lane, in order, as ids and scores in turn, and one more than may be taken: of some kinds, or of any when
--- none is named. Where age counts, a wait of so long makes up for one step of priority.
function claim.first(lane_eligible, lane, kinds, max, ageing_ms, moment)
  local of, found, flat = queues(lane_eligible, lane, kinds), {}, {}
  if not of[2] and not ageing_ms then
    return call('ZRANGE', of[1], 0, max, 'WITHSCORES')
  end
  for _, queue in ipairs(of) do
    if ageing_ms then
      add_aged(found, queue, max, ageing_ms, moment)
    else
      add(found, call('ZRANGE', queue, 0, max, 'WITHSCORES'))
    end
  end
  table.sort(found, sooner)
  for nth = 1, math.min(#found, max + 1) do
    flat[2 * nth - 1], flat[2 * nth] = found[nth].id, found[nth].kept
  end
  return flat
end

--- The last digits of ids that count on, as far as they were needed.
local digits = {}

--- The id that comes so many after a first one.
function claim.nth(first, nth)
  digits[nth] = digits[nth] or string.format('%04x', nth)
  return first:sub(1, 32) .. digits[nth]
end

--- Payloads read together: at their largest they are as much as one reply may carry.
local PAYLOADS_AT_ONCE = 4

--- Gives the payload of each execution in turn. Beyond so many they are read only when asked for.
function claim.payloads(waiting, max)
  local nth, read, at = 0, {}, 0
  return function()
    if at == #read then
      local names, last = {}, nth < max and math.min(nth + PAYLOADS_AT_ONCE, max) or nth + 1
      for ahead = nth + 1, math.min(last, #waiting / 2) do
        names[#names + 1] = keys.of(waiting[2 * ahead - 1], 'payload')
      end
      read, at = call('MGET', unpack(names)), 0
    end
    nth, at = nth + 1, at + 1
    return read[at] or ''
  end
end

--- All fields of an execution, as text.
local function read(key)
  local flat = call('HGETALL', key)
  local core = {}
  for at = 1, #flat, 2 do
    core[flat[at]] = flat[at + 1]
  end
  return core
end

local DROPPED = { 'next_attempt', 'replay_reason', 'replay_requested_by' }
local DROPPED_AT_A_START = { 'progress_at', 'progress_message', 'progress_percent' }

--- Takes away fields a claimed execution no longer has.
local function drop(key, core, resumed)
  local gone = {}
  for nth = 1, 3 do
    gone[#gone + 1] = core[DROPPED[nth]] and DROPPED[nth]
    gone[#gone + 1] = not resumed and core[DROPPED_AT_A_START[nth]] and DROPPED_AT_A_START[nth] or nil
  end
  if gone[1] then
    call('HDEL', key, unpack(gone))
  end
end

--- The try a claim goes on with, or what the one it starts is.
local function attempt_of(id, core, new_id)
  local index = tonumber(core.current_attempt_index)
  if core.next_attempt == 'resume' then
    local open = record.hash(keys.attempt(id, index))
    local _, attempt_id = lease.attempt_parts(open.attempt)
    open.index, open.id = index, attempt_id
    return open, true
  end
  return {
    index = index and index + 1 or 0,
    id = new_id,
    type = core.next_attempt,
    reason = core.replay_reason,
    requested_by = core.replay_requested_by,
  }
end

--- How many inputs were passed on to a member of a flow, and how many bytes of them come with it.
local function inputs_of(id)
  local inputs, bytes = unpack(call('HMGET', keys.of(id, 'deps:meta'), 'inputs', 'input_bytes'))
  return tonumber(inputs or 0), math.min(tonumber(bytes or 0), limits.input_bytes)
end

--- What of signals and inputs comes with an execution, and how many bytes that is.
local function beside(id, core)
  local resumption, bytes, inputs, more = nil, 0, 0, 0
  if core.has_waited then
    resumption, bytes = suspension.resumption(id)
  end
  if core.flow_id then
    inputs, more = inputs_of(id)
  end
  return resumption, inputs, bytes + more
end

--- Ends an execution whose flow is cancelled and does not spare it, and says whether it did.
local function ended(id, flow, core)
  if not flow or flow_record.spares(flow, core, false) then
    return false
  end
  local e = record.find(id)
  step.cancel(e, 'flow_cancel')
  record.save(e)
  return true
end

--- Hands over an execution that is not plain, unless what comes with it is more than there is room for. Its lease is marked,
--- so that its holder's calls read all of it. Says what `take` says.
local function take_rare(key, id, payload, lane, holder, lease_id, new_attempt_id, room, moment)
  local core = read(key)
  local flow = core.flow_id and step.flow(core.flow_id)
  if ended(id, flow, core) then
    return nil, nil, true
  end
  local resumption, inputs, bytes = beside(id, core)
  if room and bytes > room then
    return nil, bytes
  end
  local attempt, resumed = attempt_of(id, core, new_attempt_id)
  local epoch = core.last_attempt and lease.attempt_parts(core.last_attempt) + 1 or 1
  local timeout_ms = tonumber(core.attempt_timeout_ms)
  local timeout_at = timeout_ms and moment + math.max(0, timeout_ms - (attempt.ran_ms or 0))
  local held = { 'rare', '1', 'lease_id', lease_id, 'attempt', lease.attempt_text(epoch, attempt.id) }
  append(held, 'holder', holder.name)
  append(held, 'acquired_at', moment)
  append(held, 'expires_at', holder.expires_at)
  for nth = 1, #holder.rest do
    held[#held + 1] = holder.rest[nth]
  end
  append(held, 'timeout_at', timeout_at)
  append(held, 'deadline_at', core.deadline_at)
  append(held, 'type', attempt.type)
  append(held, 'reason', attempt.reason)
  append(held, 'requested_by', attempt.requested_by)
  append(held, 'started_at', attempt.started_at)
  append(held, 'ran_ms', attempt.ran_ms)
  event_feed.at_hand(id, core, 'event', resumed and 'resumed' or 'started', 'attempt', text(attempt.index))
  call('HSET', keys.of(id, 'lease:current'), unpack(held))
  call(
    'HSET', key, 'public_state', 'active', 'current_attempt_index', attempt.index, 'current_worker_instance_id',
    holder.instance, 'started_at', core.started_at or moment
  )
  drop(key, core, resumed)
  if core.streamed then
    hint.streamed(id)
  end
  index.unwait(lane, core.kind, id)
  index.hold(lane, holder.instance, moment, holder.expires_at, timeout_at, id)
  if flow then
    flow_record.moved(flow, id, core.node, 'waiting', 'active')
    call('HSET', keys.flow(flow.id, 'member:' .. id), 'state', 'active')
  end
  local told = { id, epoch, attempt.index, core.kind, core.created_at, payload }
  append(told, 'resumed', resumed and attempt.id)
  append(told, 'type', attempt.type)
  append(told, 'reason', attempt.reason)
  append(told, 'requested_by', attempt.requested_by)
  append(told, 'priority', core.priority)
  append(told, 'deadline_at', core.deadline_at)
  append(told, 'content_type', core.content_type)
  append(told, 'policy', core.has_policy and call('GET', keys.of(id, 'policy')))
  append(told, 'tags', core.has_tags and call('HGETALL', keys.of(id, 'tags')))
  append(told, 'resumption', resumption and suspension.told(resumption))
  append(told, 'flow', flow and { flow.id, core.node, inputs })
  append(told, 'trace', core.traceparent and { core.traceparent, core.tracestate })
  append(told, 'inputs', inputs > 0 and { meta.inputs(id, nil, limits.input_bytes) })
  return told, bytes
end

--- Hands one waiting execution to a worker, and says what the worker is told: id, epoch, index of the attempt, kind,
--- creation and payload, and then in pairs what else there is. Nothing, when there is no such execution. Besides, how
--- many bytes of signals and inputs come with it; with nothing before it, how many it would be, when they do not go into the
--- room; and whether it ended instead, because its flow is cancelled.
---
--- A first try of work with nothing particular about it is plain: little of it has to be read, and it is added to `plain`,
--- which has ids by kind, for its indexes to be written with those of others. Its score is when it was created.
function claim.take(id, score, payload, lane, holder, lease_id, attempt_id, plain, room, moment)
  local key = keys.of(id, 'core')
  local core = call('HMGET', key, 'kind', 'rare')
  local kind = core[1]
  if not kind then
    return nil
  elseif core[2] then
    return take_rare(key, id, payload, lane, holder, lease_id, attempt_id, room, moment)
  end
  call(
    'HSET', keys.of(id, 'lease:current'), 'lease_id', lease_id, 'attempt', lease.attempt_text(1, attempt_id), 'holder',
    holder.name, 'acquired_at', moment, 'expires_at', holder.expires_at, unpack(holder.rest)
  )
  call(
    'HSET', key, 'public_state', 'active', 'current_attempt_index', '0', 'current_worker_instance_id', holder.instance,
    'started_at', moment
  )
  event_feed.plainly(id, lane, kind, 'event', 'started', 'attempt', '0')
  local ids = plain[kind]
  if ids then
    ids[#ids + 1] = id
  else
    plain[kind] = { id }
  end
  return { id, 1, 0, kind, score, payload }
end

return claim
