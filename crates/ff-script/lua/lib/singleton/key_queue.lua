--- The queues of singleton and debounce keys. A singleton queue has the live executions of its key in the order they run; a debounce queue
--- has the execution submitted last.
---
--- The consequences of an end for the execution behind it are written once, at the end of the call, because both may change in one call.

local key_queue = {}

--- The executions that were behind an ended one, in order, with the keys of their queues.
local behind

function key_queue.begin()
  behind = nil
end

local function key_of(core)
  return keys.key_queue(core.namespace or 'default', core.queue_key)
end

local function is_singleton(core)
  return core.queue_key:sub(1, 10) == 'singleton:'
end

--- Returns the id of the first execution of a key; `last` returns the last one as a record.
function key_queue.first(core)
  return call('LINDEX', key_of(core), 0)
end

function key_queue.last(core)
  local id = call('LINDEX', key_of(core), -1)
  return id and record.find(id)
end

--- Returns true if a key has the maximum number of live executions.
function key_queue.is_full(core)
  return is_singleton(core) and call('LLEN', key_of(core)) >= limits.key_queue
end

--- Returns the refusal of one more execution of a key.
function key_queue.refusal()
  local detail = 'so many executions of the key live at most'
  local limit, sent = text(limits.key_queue), text(limits.key_queue + 1)
  return no.limit_exceeded('field', 'singleton', 'limit', limit, 'sent', sent, 'detail', detail)
end

--- Adds a new live execution to the queue of its key.
function key_queue.join(e, moment)
  local key = key_of(e.core)
  if not is_singleton(e.core) then
    call('DEL', key)
    call('RPUSH', key, e.id)
    return
  end
  local last = call('LINDEX', key, -1)
  call('RPUSH', key, e.id)
  if last then
    record.put(e, 'behind', last)
    if e.core.public_state == 'waiting' then
      phase.waiting(e, moment)
      event_feed.to(e, 'blocked', 'reason', phase.reason('quota'))
    end
  end
end

--- Adds a replayed execution to the queue of its singleton key. Submissions under its debounce key do not change it.
function key_queue.rejoin(e, moment)
  if e.core.queue_key and is_singleton(e.core) then
    key_queue.join(e, moment)
  end
end

--- Removes an ended execution from the queue of its key.
function key_queue.leave(e)
  local key = key_of(e.core)
  local at = call('LPOS', key, e.id)
  if not at then
    return
  end
  call('LREM', key, 1, e.id)
  local following = call('LINDEX', key, at)
  if following then
    behind = behind or {}
    behind[#behind + 1] = { id = following, key = key }
  end
end

--- Sets the execution ahead of another one, or makes that one ready if there is none.
local function move_up(id, ahead, moment)
  local e = record.find(id)
  if ahead then
    record.put(e, 'behind', ahead)
  else
    local is_queued = e.core.blocked_on == 'quota'
    record.drop(e, 'behind')
    if is_queued then
      phase.admit(e, moment)
    end
  end
  record.save(e)
end

--- Writes the consequences of the ends in this call.
function key_queue.run()
  if not behind then
    return
  end
  index.flush()
  for _, one in ipairs(behind) do
    local at = call('LPOS', one.key, one.id)
    if at then
      move_up(one.id, at > 0 and call('LINDEX', one.key, at - 1) or nil, here.memory.moment)
    end
  end
  behind = nil
end

return key_queue
