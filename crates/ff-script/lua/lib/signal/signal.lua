--- Signals: messages from outside to an execution, stored as received.

local signal = {}

--- Smaller than the difference between two times, and exact in a score up to the last possible time, in the year 9999.
local WITHIN_A_MOMENT = 1 / 32

--- Notes that an execution received a signal. Signals of the same time stay in the order they came.
local function note(id, signal_id, moment)
  local all = keys.of(id, 'signals')
  local last = tonumber(call('ZRANGE', all, -1, -1, 'WITHSCORES')[2])
  call('ZADD', all, last and math.max(moment, last + WITHIN_A_MOMENT) or moment, signal_id)
end

--- Records a signal of an execution, its payload and its waitpoint, and adds it to the feed.
function signal.record(e, sent, moment)
  local fields = { 'execution_id', e.id, 'name', sent.name, 'source_type', sent.source_type }
  append(fields, 'source_identity', sent.source_identity)
  append(fields, 'waitpoint_id', sent.waitpoint_id)
  append(fields, 'effect', sent.effect)
  local entry = { 'namespace', e.core.namespace or 'default', 'signal_id', sent.id, unpack(fields) }
  append(fields, 'received_at', moment)
  append(fields, 'idempotency_key', sent.idempotency_key)
  append(fields, 'dedup_until', sent.idempotency_key and moment + sent.dedup_ttl_ms)
  if sent.bytes > 0 then
    append(fields, 'payload_bytes', sent.bytes)
    append(fields, 'content_type', sent.content_type)
    call('SET', keys.signal_payload(sent.id), sent.payload)
  end
  call('HSET', keys.signal(sent.id), unpack(fields))
  note(e.id, sent.id, moment)
  call('RPUSH', keys.waitpoint_signals(sent.waitpoint_id), sent.id)
  if sent.idempotency_key then
    remember(keys.signal_dedup(sent.waitpoint_id, sent.idempotency_key), sent.id, sent.dedup_ttl_ms)
  end
  feed.add(entry, moment)
end

--- Returns the first signal a waitpoint took under an idempotency key, while the key is remembered.
function signal.first(waitpoint_id, idempotency_key, moment)
  local first = call('GET', keys.signal_dedup(waitpoint_id, idempotency_key))
  local until_ms = first and tonumber(call('HGET', keys.signal(first), 'dedup_until') or nil)
  return until_ms and moment < until_ms and first
end

--- Returns how many signals an execution has received.
function signal.count(id)
  return call('ZCARD', keys.of(id, 'signals'))
end

--- Returns a stored signal: its id, its fields, and its payload if it has one and it is wanted.
function signal.read(id, with_payload)
  return { id, call('HGETALL', keys.signal(id)), with_payload and call('GET', keys.signal_payload(id)) }
end

--- Returns the ids of the early signals of a waitpoint, in order.
function signal.early(waitpoint)
  return call('LRANGE', keys.waitpoint_signals(waitpoint.id), 0, -1)
end

--- Returns an early signal as a condition looks at it.
function signal.weighed(id, waitpoint)
  local fields = call('HMGET', keys.signal(id), 'name', 'source_type', 'source_identity', 'payload_bytes')
  return {
    id = id,
    waitpoint_key = waitpoint.key,
    name = fields[1],
    source_type = fields[2],
    source_identity = fields[3],
    bytes = tonumber(fields[4] or 0),
  }
end

return signal
