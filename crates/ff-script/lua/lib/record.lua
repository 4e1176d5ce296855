--- An execution as a table, read once, changed in memory, and written once.
---
--- `core` is its hash, numbers as numbers; `lease` is that of its holder, if it has one, and `suspension` the one it is in.
--- `state`, `held` and `waited` are the public state, the lease and the suspension it was found with, from which its indexes
--- have to be moved. What changes is collected in `set` and `gone`, and beside them in `attempt` and `event`, as the
--- arguments of the commands that write it.

local record = {}

local NUMBERS = {}
for name in ([[
  acquired_at attempt_timeout_ms changed_at created_at current_attempt_index deadline_at delayed_until ended_at expires_at
  last_lease_until priority ran_ms reclaims replays retries started_at suspended_at timeout_at ttl_ms
]]):gmatch('%S+') do
  NUMBERS[name] = true
end

--- A hash as a table, numbers as numbers, if there is one.
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

--- The lane as indexes name it.
function record.lane(namespace, lane_id)
  if namespace and namespace ~= 'default' then
    return namespace .. '/' .. lane_id
  end
  return lane_id
end

--- The execution of an id, if there is one.
---
--- The last lease of a plain first try that completed is in the record of that try, which it became.
function record.load(id)
  local core = record.hash(keys.of(id, 'core'))
  if not core then
    return nil
  elseif core.terminal_outcome == 'success' and not core.last_lease_id then
    local last = call('HMGET', keys.attempt(id, '0'), 'lease_id', 'attempt')
    core.last_lease_id, core.last_attempt = last[1], last[2]
  end
  local state, lane = core.public_state, record.lane(core.namespace, core.lane_id or 'default')
  local e = { id = id, lane = lane, core = core, state = state, set = {}, gone = {} }
  if state == 'active' then
    e.lease = record.hash(keys.of(id, 'lease:current'))
    e.held = e.lease
  elseif state == 'suspended' then
    e.suspension = record.hash(keys.of(id, 'suspension:current'))
    e.waited = { timeout_at = e.suspension and e.suspension.timeout_at }
  end
  return e
end

--- Sets a field.
function record.put(e, name, value)
  local set = e.set
  set[#set + 1] = name
  set[#set + 1] = value
  e.core[name], e.gone[name] = value, nil
end

--- Sets a field if there is something to put in it.
function record.put_if_said(e, name, value)
  if value then
    record.put(e, name, value)
  end
end

--- Takes a field away, if it is there.
function record.drop(e, name)
  if e.core[name] ~= nil then
    e.gone[name], e.core[name] = true, nil
  end
end

--- Fields that are gone also when they had been set before that.
local function write_core(e)
  local key, gone = keys.of(e.id, 'core'), {}
  if e.set[1] then
    call('HSET', key, unpack(e.set))
  end
  for name in pairs(e.gone) do
    gone[#gone + 1] = name
  end
  if gone[1] then
    call('HDEL', key, unpack(gone))
  end
end

local function write_history(id, event)
  local key = keys.of(id, 'lease:history')
  if call('RPUSH', key, event) > limits.lease_history then
    call('LTRIM', key, -limits.lease_history, -1)
  end
end

--- How an execution leaves each state, and how it enters it.
local LEAVE, ENTER = {}, {}

function LEAVE.waiting(e)
  index.unwait(e.lane, e.core.kind, e.id)
end

function ENTER.waiting(e)
  index.wait(e.lane, e.core.kind, e.core.priority or 0, e.core.created_at, e.id)
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

function ENTER.suspended(e)
  index.suspend(e.lane, e.suspension.suspended_at, e.suspension.timeout_at, e.id)
end

--- Live states share the deadline, so it is written only at birth, at the end and at a replay.
local function leave_end(e)
  index.unfinish(e.lane, e.id)
  index.bound(e.core.deadline_at, e.id)
end

local function enter_end(e)
  index.finish(e.lane, e.core.changed_at, e.id)
  index.unbound(e.core.deadline_at, e.id)
end

--- Writes what changed, and moves the execution from the indexes it was in to those it belongs in now. One that stays in its
--- state stays where it is.
function record.save(e)
  write_core(e)
  if e.held and not e.lease then
    call('DEL', keys.of(e.id, 'lease:current'))
  end
  if e.attempt then
    call('HSET', keys.attempt(e.id, e.core.current_attempt_index), unpack(e.attempt))
  end
  if e.event then
    write_history(e.id, e.event)
  end
  if e.core.public_state ~= e.state then
    local leave, enter = LEAVE[e.state] or leave_end, ENTER[e.core.public_state] or enter_end
    leave(e)
    enter(e)
  end
end

return record
