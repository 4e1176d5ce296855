--- An execution as a table, read once, changed in memory, and written once.
---
--- `core` is its hash, with numbers converted. `lease`, `suspension` and `grant` (for the worker instance it is assigned to) are the
--- current ones, if any. `state`, `held`, `waited` and `granted` are the public state, lease, suspension and grant as they were read; its
--- indexes are moved from there. Changes are collected in `set`, `gone`, `attempt` and `event`, as the arguments of the commands that write
--- them.
---
--- A member of a flow is written at the end of the call, with all consequences of its change within the flow.

local record = {}

local NUMBERS = {}
for name in ([[
  acquired_at attempt_timeout_ms blocked_until cancelled_at changed_at created_at current_attempt_index deadline_at
  delayed_until edges ended_at latest_start sweep_seen sweep_since events expires_at failed granted_at graph_revision held_at injected_bytes
  input_bytes inputs k retention_ms lane_retention_ms last_lease_until failed_leaves n nodes propagation_since passed_bytes payload_bytes
  position priority ran_ms reclaims replays result_bytes retries round satisfied_at siblings_since skipped
  staging_parts staging_short staging_until started_at succeeded suspended_at timeout_at ttl_ms
]]):gmatch('%S+') do
  NUMBERS[name] = true
end

--- Returns a hash as a table with numbers converted, or nil if there is none.
function record.hash(key)
  local flat = call('HGETALL', key)
  local length = #flat
  if length == 0 then
    return nil
  end
  local fields = {}
  for at = 1, length, 2 do
    local name = flat[at]
    if NUMBERS[name] then
      fields[name] = tonumber(flat[at + 1])
    else
      fields[name] = flat[at + 1]
    end
  end
  return fields
end

--- Returns the lane as indexes name it.
function record.lane(namespace, lane_id)
  if namespace and namespace ~= 'default' then
    return namespace .. '/' .. lane_id
  end
  return lane_id
end

--- The place of an execution that is not blocked by its upstreams, by its blocker. A staged execution is in no index.
local PLACES = {
  staging = 'staged',
  route = 'blocked:route',
  quota = 'blocked:quota',
  budget = 'blocked:budget',
  operator = 'blocked:operator',
  assignment = 'blocked:assignment',
}

local function place(core)
  return core.blocked_on and PLACES[core.blocked_on] or core.public_state
end

--- The blocking reason by which a suspension is searched, by its reason code.
local SUSPENDED_FOR = {
  waiting_for_operator_review = 'paused_by_operator',
  manual_pause = 'paused_by_operator',
  paused_by_budget = 'waiting_for_budget',
}

local function reason_of(core, suspension)
  if suspension then
    return suspension.escalated_at and 'paused_by_operator' or SUSPENDED_FOR[suspension.reason_code]
  end
  return phase.reason(core.blocked_on)
end

--- Returns the visible execution of an id, or nil. A staged execution is invisible until its flow is opened.
function record.load(id)
  local e = record.find(id)
  if e and e.place == 'staged' and flow_record.is_staged(e.core.flow_id) then
    return nil
  end
  return e
end

--- Returns the execution of an id, or nil.
---
--- The last lease of a first attempt that completed is in the record of that attempt, which it became.
function record.find(id)
  local known = step.known(id)
  if known then
    return known
  end
  local core = record.hash(keys.of(id, 'core'))
  if not core then
    return nil
  elseif core.terminal_outcome == 'success' and not core.last_lease_id then
    local last = call('HMGET', keys.attempt(id, '0'), 'lease_id', 'attempt')
    core.last_lease_id, core.last_attempt = last[1], last[2]
  end
  local state, lane = core.public_state, record.lane(core.namespace, core.lane_id or 'default')
  local e = { id = id, lane = lane, core = core, state = state, place = place(core), set = {}, gone = {} }
  e.ended_at = core.changed_at
  if state == 'active' then
    e.lease = record.hash(keys.of(id, 'lease:current'))
    e.held = e.lease
  elseif state == 'suspended' then
    e.suspension = record.hash(keys.of(id, 'suspension:current'))
    e.waited = { timeout_at = e.suspension and e.suspension.timeout_at }
  end
  if core.blocked_on == 'assignment' then
    e.grant = record.hash(keys.of(id, 'claim_grant'))
    e.granted = e.grant
  end
  e.reason, e.kept_until = reason_of(core, e.suspension), core.blocked_until
  if core.flow_id then
    step.keep(e)
  end
  return e
end

--- Returns a new execution in memory. `fields` are the names and values of its record.
function record.new(id, lane, fields)
  local core = {}
  for at = 1, #fields, 2 do
    core[fields[at]] = fields[at + 1]
  end
  return { id = id, lane = lane, core = core, place = 'none', set = fields, gone = {} }
end

--- Sets a field.
function record.put(e, name, value)
  local set = e.set
  set[#set + 1] = name
  set[#set + 1] = value
  e.core[name], e.gone[name] = value, nil
end

--- Sets a field if there is a value.
function record.put_if_given(e, name, value)
  if value then
    record.put(e, name, value)
  end
end

--- Removes a field, if it is there.
function record.drop(e, name)
  if e.core[name] ~= nil then
    e.gone[name], e.core[name] = true, nil
  end
end

--- Writes the record. Removed fields are deleted even if they were set before that.
local function write_core(e)
  local gone = {}
  for name in pairs(e.gone) do
    gone[#gone + 1] = name
  end
  change_hash(keys.of(e.id, 'core'), e.set, gone)
end

local function write_history(id, event)
  local key = keys.of(id, 'lease:history')
  if call('RPUSH', key, event) > limits.lease_history then
    call('LTRIM', key, -limits.lease_history, -1)
  end
end

--- The functions that remove an execution from the indexes of a state, and that add it, by state.
local LEAVE, ENTER = {}, {}

function LEAVE.waiting(e)
  if e.core.fair_key then
    return turns.unwait(e.lane, e.core.kind, e.core.class, e.core.fair_key, e.id)
  end
  index.unwait(e.lane, e.core.kind, e.core.class, e.id)
end

function ENTER.waiting(e)
  if e.core.fair_key then
    return turns.wait(e.lane, e.core.kind, e.core.class, e.core.fair_key, e.core.priority or 0, e.core.created_at, e.id)
  end
  index.wait(e.lane, e.core.kind, e.core.class, e.core.priority or 0, e.core.created_at, e.id)
end

function LEAVE.delayed(e)
  index.undelay(e.lane, e.id)
end

function ENTER.delayed(e)
  index.delay(e.lane, e.core.delayed_until, e.id)
end

function LEAVE.active(e)
  index.release(e.lane, lease.instance(e.held.holder), e.held.timeout_at, e.id)
end

function LEAVE.suspended(e)
  index.unsuspend(e.lane, e.waited.timeout_at, e.id)
end

function LEAVE.waiting_children(e)
  index.admit(e.lane, 'blocked:dependencies', nil, e.id)
end

function ENTER.waiting_children(e)
  index.keep_back(e.lane, 'blocked:dependencies', e.core.created_at, nil, e.id)
end

local function admit(e)
  index.admit(e.lane, e.place, e.kept_until, e.id)
end

local function keep_back(e)
  index.keep_back(e.lane, place(e.core), e.core.changed_at, e.core.blocked_until, e.id)
end

LEAVE['blocked:route'] = function(e)
  admit(e)
  route_index.remove(e.lane, e.core.kind, e.core.class, e.id)
end
ENTER['blocked:route'] = function(e)
  keep_back(e)
  route_index.add(e.lane, e.core.kind, e.core.class, e.core.created_at, e.id)
end
LEAVE['blocked:quota'], ENTER['blocked:quota'] = admit, keep_back
LEAVE['blocked:budget'], ENTER['blocked:budget'] = admit, keep_back
LEAVE['blocked:operator'], ENTER['blocked:operator'] = admit, keep_back

LEAVE['blocked:assignment'] = function(e)
  claim_grant.leave(e)
end
ENTER['blocked:assignment'] = function(e)
  claim_grant.enter(e)
end

--- Adds an execution that was not visible before.
local function appear(e)
  index.create(e.core.namespace, e.core.created_at, e.id)
  tag.add_all(e)
  if not e.core.terminal_outcome then
    index.bound(e.core.deadline_at, e.id)
  end
end

LEAVE.none, LEAVE.staged = appear, appear

function ENTER.suspended(e)
  index.suspend(e.lane, e.suspension.suspended_at, e.suspension.timeout_at, e.id)
end

--- Removes an execution from the finished ones. Live states share the deadline, so it is only written at creation, at the end and at a
--- replay.
local function leave_end(e)
  index.unfinish(e.lane, e.id)
  if not e.core.flow_id then
    index.unkeep(e.id)
  end
  index.bound(e.core.deadline_at, e.id)
end

local function enter_end(e)
  index.finish(e.lane, e.core.changed_at, e.id)
  index.unbound(e.core.deadline_at, e.id)
  if e.core.queue_key then
    key_queue.leave(e)
  end
  local until_ms = forget.at(e)
  if until_ms then
    index.keep(until_ms, e.id)
  end
end

--- Writes the changes; for a member, its flow does that later.
function record.save(e)
  if e.core.flow_id then
    return step.write(e)
  end
  record.write(e)
end

--- Moves an execution from the indexes it was in to the ones it belongs in now. An execution that stays in its state is not moved, but one
--- that ended, was replayed and ended again ended later than before. No index is left and entered at once, because collected changes are
--- written in no particular order.
local function move(e)
  local to = place(e.core)
  local leave, enter = LEAVE[e.place] or leave_end, ENTER[to] or enter_end
  if leave == leave_end and enter == enter_end and to ~= 'staged' then
    if e.core.changed_at ~= e.ended_at then
      index.finish(e.lane, e.core.changed_at, e.id)
    end
  elseif (to ~= e.place or e.grant ~= e.granted) and to ~= 'staged' then
    leave(e)
    enter(e)
  end
  if to ~= e.place then
    index.restate(e.core.namespace, e.place, to, e.core.created_at, e.id)
  end
  local reason = reason_of(e.core, e.suspension)
  if reason ~= e.reason then
    index.reason(e.core.namespace, e.reason, reason, e.core.created_at, e.id)
  end
end

--- Writes the changes.
function record.write(e)
  write_core(e)
  if e.held and not e.lease then
    call('DEL', keys.of(e.id, 'lease:current'))
    if e.held.limited then
      hint.freed(e.lane)
    end
    if e.held.slots then
      hint.slots_freed(e.id, e.held.attempt, e.held.slots)
    end
  end
  if e.attempt then
    call('HSET', keys.attempt(e.id, e.core.current_attempt_index), unpack(e.attempt))
  end
  if e.event then
    write_history(e.id, e.event)
  end
  if e.core.streamed then
    stream.moved(e, place(e.core) ~= e.place)
  end
  move(e)
end

return record
