--- Forgets executions and flows after their retention, with all their keys.

local forget = {}

--- Returns when an execution is to be forgotten, or nil if it has not finished. A member of a flow is forgotten with its flow. An execution
--- is kept for as long as its idempotency key is remembered, because the key must find it.
function forget.at(e)
  local core = e.core
  if not core.terminal_outcome or core.flow_id then
    return nil
  end
  local until_ms = core.changed_at + forget.retention_ms(e)
  if core.idempotency_key then
    return math.max(until_ms, core.created_at + policy.of(e).dedup_window_ms)
  end
  return until_ms
end

--- Returns how long an execution is kept after its end: by its policy, by its lane at submission, or by default.
function forget.retention_ms(e)
  return e.core.has_policy and policy.of(e).retention_ms or e.core.lane_retention_ms or limits.retention_ms
end

--- Returns about how many records are forgotten with an execution. A step bounds the sum.
function forget.records(e)
  local signals = e.core.has_waited and signal.count(e.id) or 0
  return 1 + (e.core.current_attempt_index and e.core.current_attempt_index + 1 or 0) + signals
end

--- Number of keys per UNLINK command.
local CHUNK = 1000

local function unlink(gone)
  for first = 1, #gone, CHUNK do
    call('UNLINK', unpack(gone, first, math.min(first + CHUNK - 1, #gone)))
  end
end

local OF_EXECUTION = {
  'core', 'payload', 'result', 'policy', 'tags', 'attempts', 'claim_grant', 'lease:current', 'lease:history',
}
local OF_WAITS = { 'waitpoints', 'signals', 'suspension:current', 'suspension:tally', 'suspension:last' }
local OF_ATTEMPT = { '', ':usage', ':policy', ':summary' }

local function add_signals(gone, id)
  for _, signal_id in ipairs(call('ZRANGE', keys.of(id, 'signals'), 0, -1)) do
    local under, key = unpack(call('HMGET', keys.signal(signal_id), 'waitpoint_id', 'idempotency_key'))
    gone[#gone + 1] = keys.signal(signal_id)
    gone[#gone + 1] = keys.signal_payload(signal_id)
    gone[#gone + 1] = key and keys.signal_dedup(under, key) or nil
  end
end

local function add_waitpoints(gone, id)
  for _, waitpoint_id in ipairs(call('SMEMBERS', keys.of(id, 'waitpoints'))) do
    local key = call('HGET', keys.waitpoint(waitpoint_id), 'suspend_key')
    gone[#gone + 1] = keys.waitpoint(waitpoint_id)
    gone[#gone + 1] = keys.waitpoint_signals(waitpoint_id)
    gone[#gone + 1] = keys.waitpoint(waitpoint_id) .. ':condition'
    gone[#gone + 1] = key and keys.suspend_dedup(id, key) or nil
  end
end

--- Returns the keys of an execution, except the keys of its place in a flow.
local function keys_of(e)
  local gone, id = {}, e.id
  for _, what in ipairs(OF_EXECUTION) do
    gone[#gone + 1] = keys.of(id, what)
  end
  for nth = 0, e.core.current_attempt_index or -1 do
    for _, what in ipairs(OF_ATTEMPT) do
      gone[#gone + 1] = keys.attempt(id, nth) .. what
    end
  end
  for nth = 0, e.core.streamed and e.core.current_attempt_index or -1 do
    gone[#gone + 1] = keys.stream(id, nth)
    gone[#gone + 1] = keys.stream_meta(id, nth)
  end
  if e.core.steps then
    steps.add_keys(gone, id)
  end
  if e.core.has_waited then
    for _, what in ipairs(OF_WAITS) do
      gone[#gone + 1] = keys.of(id, what)
    end
    add_signals(gone, id)
    add_waitpoints(gone, id)
  end
  return gone
end

--- Forgets a finished execution: its record, its other keys, and its index entries. Deletes its idempotency key if that still refers to it.
function forget.execution(e)
  local core = e.core
  local gone = keys_of(e)
  local named = core.idempotency_key and keys.idempotency(core.namespace or 'default', core.idempotency_key)
  if named and call('GET', named) == e.id then
    gone[#gone + 1] = named
  end
  tag.remove_all(e)
  if core.usage then
    usage.forget(e)
  end
  index.uncreate(core.namespace, e.id)
  index.restate(core.namespace, core.public_state, 'none', core.created_at, e.id)
  index.unfinish(e.lane, e.id)
  if not core.flow_id then
    index.unkeep(e.id)
  end
  unlink(gone)
end

return forget
