--- The event feed of a partition: recorded while a reader follows it, bounded, and read with a cursor.
---
--- The events of an execution are recorded together, at the place of the first.

local event_feed = {}

--- The new entries of this call, in order: executions with `events`, and other entries of the feed.
local pending

--- The executions among them, by id, because a call may read an execution twice.
local known

function event_feed.begin()
  pending, known = nil, nil
end

--- Returns true if events are recorded now. The end of recording is cached, so that a feed without a follower costs nothing.
function event_feed.is_followed()
  local memory = here.memory
  if not memory.followed then
    memory.followed = tonumber(call('HGET', keys.followed(), 'until') or 0)
  end
  return memory.moment < memory.followed
end

--- Records an event of an execution, with further names and values.
function event_feed.to(e, event, ...)
  if not event_feed.is_followed() then
    return
  elseif not e.events then
    pending, known = pending or {}, known or {}
    if known[e.id] then
      e.events = known[e.id].events
    else
      pending[#pending + 1], known[e.id], e.events = e, e, {}
    end
  end
  e.events[#e.events + 1] = { 'event', event, ... }
end

local function entry(id, namespace, lane_id, kind, flow_id, event)
  local fields = { 'namespace', namespace or 'default', 'lane_id', lane_id or 'default', 'kind', kind, 'execution_id', id }
  append(fields, 'flow_id', flow_id)
  for nth = 1, #event do
    fields[#fields + 1] = event[nth]
  end
  return fields
end

--- Records an event of an execution whose record is not loaded. `lane` is the lane as indexes name it; `flow_id` is nil outside a flow.
function event_feed.about(id, lane, kind, flow_id, ...)
  if not event_feed.is_followed() then
    return
  end
  local namespace, lane_id = lane:match('^(.-)/(.*)$')
  pending = pending or {}
  pending[#pending + 1] = { entry = entry(id, namespace, lane_id or lane, kind, flow_id, { ... }) }
end

--- Writes the events of this call.
function event_feed.write()
  if not pending then
    return
  end
  local key, any = keys.events(), false
  for _, one in ipairs(pending) do
    if one.entry then
      add_to_stream(key, here.memory.moment, one.entry)
      any = true
    end
    for _, event in ipairs(one.events or {}) do
      local core = one.core
      add_to_stream(key, here.memory.moment, entry(one.id, core.namespace, core.lane_id, core.kind, core.flow_id, event))
      any = true
    end
  end
  pending, known = nil, nil
  if any then
    hint.event_written()
  end
end

--- Extends the feed for a reader, with at most one write an hour, and returns since when it records. A feed that had lapsed starts over,
--- without its old entries.
function event_feed.follow(moment)
  local key = keys.followed()
  local since, until_ms = unpack(call('HMGET', key, 'since', 'until'))
  since, until_ms = tonumber(since or nil), tonumber(until_ms or nil)
  local later = moment + limits.followed_ms
  if not until_ms or moment >= until_ms then
    call('UNLINK', keys.events())
    call('HSET', key, 'since', moment, 'until', later)
    here.memory.followed = later
    return moment
  elseif later - until_ms >= limits.followed_step_ms then
    call('HSET', key, 'until', later)
    here.memory.followed = later
  end
  return since
end

--- Returns the entries from a stream id on, and whether some may be lost. A full feed has lost entries before its first one.
function event_feed.from(place, most)
  local key = keys.events()
  local entries = call('XRANGE', key, place, '+', 'COUNT', most)
  if call('XLEN', key) < limits.feed then
    return entries, false
  end
  local first = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  return entries, entries[1] and entries[1][1] == first[1]
end

return event_feed
