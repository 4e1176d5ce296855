--- Flows: graphs of executions that end with their last member. A flow is read once, changed in memory, and written once.
---
--- `core` is its hash, with numbers converted; `counts` holds the number of members in each state; `new_events` holds the events to add.

local flow_record = {}

local ENDS = { completed = true, failed = true, cancelled = true, expired = true, skipped = true }

--- Returns when a flow and its members are to be forgotten, or nil while something may still happen in it.
function flow_record.forget_at(flow)
  local core = flow.core
  if core.ended_at and not core.sweep_action and flow_record.live(flow) == 0 then
    return core.ended_at + (core.retention_ms or limits.retention_ms)
  end
end

--- Returns the indexes a flow belongs in, with its score in each.
local function entries(flow)
  local core, list = flow.core, {}
  if core.staging_parts then
    list.flow_staging = core.staging_until
  end
  if core.sweep_action == 'open' then
    list.flow_opening = core.sweep_since
  elseif core.sweep_action == 'cancel' then
    list.cancel_backlog = core.sweep_since + limits.cancel_grace_ms
  elseif core.sweep_action == 'forget' then
    list.flow_retention = core.sweep_since
  end
  list.flow_retention = list.flow_retention or flow_record.forget_at(flow)
  return list
end

function flow_record.read(id)
  local core = record.hash(keys.flow(id, 'core'))
  if not core then
    return nil
  end
  local counts, flat = {}, call('HGETALL', keys.flow(id, 'summary'))
  for at = 1, #flat, 2 do
    counts[flat[at]] = tonumber(flat[at + 1])
  end
  local flow = { id = id, core = core, counts = counts, new_events = {}, changed = {}, was_open = not core.staging_parts }
  flow.was = entries(flow)
  return flow
end

--- Returns a visible flow; otherwise nil and the refusal.
function flow_record.found(id)
  local flow = step.flow(id)
  if not flow or flow.core.staging_parts or flow.core.sweep_action == 'forget' then
    return nil, no.flow_not_found()
  end
  return flow
end

--- Returns a new flow in memory.
function flow_record.new(id, namespace, kind, moment)
  local flow = { id = id, core = {}, counts = {}, new_events = {}, changed = {}, was = {}, was_open = false }
  local put = flow_record.put
  put(flow, 'namespace', namespace)
  put(flow, 'kind', kind)
  put(flow, 'created_at', moment)
  for _, name in ipairs({ 'graph_revision', 'nodes', 'edges', 'payload_bytes', 'events' }) do
    put(flow, name, 0)
  end
  return flow
end

--- Returns true if a flow is staged, or does not exist.
function flow_record.is_staged(id)
  local state = call('HGET', keys.flow(id, 'core'), 'state')
  return not state or state == 'staging'
end

--- Returns true if a flow is visible: neither staged nor being forgotten. With `all`, it only has to exist.
function flow_record.is_there(core, all)
  local state, action = unpack(call('HMGET', core, 'state', 'sweep_action'))
  return state and (all or state ~= 'staging' and action ~= 'forget')
end

--- Sets a field, or removes it if the value is nil.
function flow_record.put(flow, name, value)
  flow.core[name], flow.changed[name] = value, true
end

--- Sets a field if there is a value.
function flow_record.put_if_given(flow, name, value)
  if value then
    flow_record.put(flow, name, value)
  end
end

--- Returns the state of a flow.
function flow_record.state(flow)
  local core = flow.core
  if core.staging_parts then
    return 'staging'
  elseif core.cancel_policy then
    return 'cancelled'
  elseif core.ended_at then
    return (core.failed_leaves or 0) == 0 and 'completed' or 'failed'
  end
  return core.started_at and 'running' or 'open'
end

--- Returns the refusal for a flow that accepts no more changes.
function flow_record.ended_refusal(flow)
  return no.flow_already_terminal('detail', 'the flow is ' .. flow_record.state(flow))
end

--- Returns true if a member may continue. `held` says whether it has a lease.
function flow_record.spares(flow, core, held)
  local policy = flow.core.cancel_policy
  if policy == 'cancel_all' then
    return false
  elseif policy == 'cancel_pending' then
    return core.current_attempt_index ~= nil
  elseif policy == 'let_active_finish' then
    return held or core.next_attempt == 'resume'
  end
  return true
end

--- Adds an event, with further names and values.
function flow_record.add_event(flow, event, ...)
  flow.new_events[#flow.new_events + 1] = { 'at', here.memory.moment, 'event', event, ... }
end

--- Counts a member that moved from one state to another; `from` is nil for a new member.
function flow_record.moved(flow, id, node, from, to)
  local counts = flow.counts
  if from then
    counts[from] = counts[from] - 1
    flow_record.add_event(flow, 'moved', 'node', node, 'execution_id', id, 'from', from, 'to', to)
  end
  counts[to] = (counts[to] or 0) + 1
  flow.recounted = true
  if to == 'active' and not flow.core.started_at then
    flow_record.put(flow, 'started_at', here.memory.moment)
  end
end

--- Returns the number of members that have not ended.
function flow_record.live(flow)
  local live = 0
  for state, count in pairs(flow.counts) do
    live = live + (ENDS[state] and 0 or count)
  end
  return live
end

--- Returns true if nothing is left to happen in a flow.
local function is_over(flow)
  local core = flow.core
  if core.staging_parts then
    return false
  end
  local may_end = core.cancel_policy or not core.held_open
  return core.cancel_policy == 'flow_only' or may_end and flow_record.live(flow) == 0
end

--- Ends a flow that is over, and reopens an ended flow that is not.
local function end_or_reopen(flow)
  local over = is_over(flow)
  if over and not flow.core.ended_at then
    flow_record.put(flow, 'ended_at', here.memory.moment)
    flow_record.add_event(flow, 'ended', 'state', flow_record.state(flow))
    hint.flow_ended(flow.id)
  elseif not over and flow.core.ended_at then
    flow_record.put(flow, 'ended_at', nil)
    flow_record.add_event(flow, 'reopened')
  end
end

local function write_events(flow)
  local key, next = keys.flow(flow.id, 'events'), flow.core.events
  for nth, event in ipairs(flow.new_events) do
    call('XADD', key, 'MAXLEN', limits.flow_events, text(next + nth - 1) .. '-1', unpack(event))
  end
  if flow.new_events[1] then
    flow_record.put(flow, 'events', next + #flow.new_events)
    hint.flow_moved(flow.id)
  end
end

local function write_counts(flow)
  if not flow.recounted then
    return
  end
  local set, gone = {}, {}
  for state, count in pairs(flow.counts) do
    append(set, state, count > 0 and count)
    gone[#gone + 1] = count == 0 and state or nil
  end
  change_hash(keys.flow(flow.id, 'summary'), set, gone)
end

local function write_core(flow)
  local set, gone = {}, {}
  for name in pairs(flow.changed) do
    local value = flow.core[name]
    append(set, name, value)
    gone[#gone + 1] = value == nil and name or nil
  end
  change_hash(keys.flow(flow.id, 'core'), set, gone)
end

local function write_indexes(flow)
  local is, was = entries(flow), flow.was
  for name, score in pairs(is) do
    if score ~= was[name] then
      flow_index.owe(name, score, flow.id)
    end
  end
  for name in pairs(was) do
    if not is[name] then
      flow_index.unowe(name, flow.id)
    end
  end
  if not flow.was_open and not flow.core.staging_parts then
    flow_index.open(flow.core.created_at, flow.id)
  end
end

local OF_FLOW = { 'core', 'summary', 'tags', 'members', 'nodes', 'graph', 'events', 'grants', 'pending_cancels' }

--- Forgets a flow whose members are gone.
local function forget_it(flow)
  for name in pairs(flow.was) do
    flow_index.unowe(name, flow.id)
  end
  if flow.was_open then
    flow_index.close(flow.id)
  end
  local gone = {}
  for _, what in ipairs(OF_FLOW) do
    gone[#gone + 1] = keys.flow(flow.id, what)
  end
  for _, key in ipairs(call('ZRANGE', keys.flow(flow.id, 'grants'), 0, -1)) do
    gone[#gone + 1] = keys.flow(flow.id, 'grant:' .. key)
  end
  for first = 1, #gone, 1000 do
    call('UNLINK', unpack(gone, first, math.min(first + 999, #gone)))
  end
end

--- Ends, reopens or forgets a flow as needed, and writes its changes.
function flow_record.settle(flow)
  if flow.gone then
    return forget_it(flow)
  end
  end_or_reopen(flow)
  write_events(flow)
  local state = flow_record.state(flow)
  if state ~= flow.core.state then
    flow_record.put(flow, 'state', state)
  end
  write_counts(flow)
  write_core(flow)
  write_indexes(flow)
  if flow.added then
    member.write_added(flow)
  end
  if flow.tags and flow.tags[1] then
    call('HSET', keys.flow(flow.id, 'tags'), unpack(flow.tags))
  end
end

return flow_record
