--- The feed of what happens on a partition: told while somebody follows, bounded, and read with a cursor.
---
--- What happens to an execution is told together, where the execution was first changed.

local happened = {}

--- What this call tells, in order: executions that have `happenings`, and what else there is, as the entries of the feed.
local told

function happened.begin()
  told = nil
end

--- Whether what happens now is told. Until when that goes on is remembered, so that a feed nobody follows costs nothing.
function happened.is_told()
  local memory = here.memory
  if not memory.followed then
    memory.followed = tonumber(call('HGET', keys.followed(), 'until') or 0)
  end
  return memory.moment < memory.followed
end

--- An execution has its place among what is told.
function happened.place(e)
  if not e.placed and happened.is_told() then
    told = told or {}
    told[#told + 1], e.placed = e, true
  end
end

--- The same for one that was changed in what it knows of its flow only, and may not have been read.
function happened.place_of(id)
  local e = happened.is_told() and record.find(id)
  if e then
    happened.place(e)
  end
end

--- Something happened to an execution, with what there is to say of it as names and values.
function happened.to(e, event, ...)
  happened.place(e)
  if e.placed then
    e.happenings = e.happenings or {}
    e.happenings[#e.happenings + 1] = { 'event', event, ... }
  end
end

local function entry(id, namespace, lane_id, kind, flow_id, happening)
  local fields = { 'namespace', namespace or 'default', 'lane_id', lane_id or 'default', 'kind', kind, 'execution_id', id }
  append(fields, 'flow_id', flow_id)
  for nth = 1, #happening do
    fields[#fields + 1] = happening[nth]
  end
  return fields
end

--- Something happened to an execution that was not read, of a lane as indexes name it.
function happened.plainly(id, lane, kind, ...)
  if not happened.is_told() then
    return
  end
  local namespace, lane_id = lane:match('^(.-)/(.*)$')
  told = told or {}
  told[#told + 1] = { entry = entry(id, namespace, lane_id or lane, kind, nil, { ... }) }
end

--- Something happened to an execution of which the record is at hand.
function happened.at_hand(id, core, ...)
  if happened.is_told() then
    told = told or {}
    told[#told + 1] = { entry = entry(id, core.namespace, core.lane_id, core.kind, core.flow_id, { ... }) }
  end
end

--- Adds an entry. Time does not run backwards on a partition, except that a server which takes over from one that crashed
--- may be behind it for a moment; then the entry follows the last one.
local function add(key, fields)
  local at = text(here.memory.moment)
  if type(redis.pcall('XADD', key, 'MAXLEN', limits.feed, at .. '-*', unpack(fields))) == 'table' then
    local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    call('XADD', key, 'MAXLEN', limits.feed, (last and last[1]:match('^%d+') or at) .. '-*', unpack(fields))
  end
end

--- Writes what this call tells.
function happened.write()
  if not told then
    return
  end
  local key, any = keys.happened(), false
  for _, one in ipairs(told) do
    if one.entry then
      add(key, one.entry)
      any = true
    end
    for _, happening in ipairs(one.happenings or {}) do
      local core = one.core
      add(key, entry(one.id, core.namespace, core.lane_id, core.kind, core.flow_id, happening))
      any = true
    end
  end
  told = nil
  if any then
    hint.told()
  end
end

--- Keeps the feed going for whoever reads it, at most one write an hour, and says since when it tells. One that had lapsed
--- begins anew, without what it told before.
function happened.follow(moment)
  local key = keys.followed()
  local since, until_ms = unpack(call('HMGET', key, 'since', 'until'))
  since, until_ms = tonumber(since or nil), tonumber(until_ms or nil)
  local later = moment + limits.followed_ms
  if not until_ms or moment >= until_ms then
    call('UNLINK', keys.happened())
    call('HSET', key, 'since', moment, 'until', later)
    here.memory.followed = later
    return moment
  elseif later - until_ms >= limits.followed_step_ms then
    call('HSET', key, 'until', later)
    here.memory.followed = later
  end
  return since
end

--- What comes from a place on, the place being an id of the stream, and whether some of it is gone: a full feed has lost
--- something before its first.
function happened.from(place, most)
  local key = keys.happened()
  local entries = call('XRANGE', key, place, '+', 'COUNT', most)
  if call('XLEN', key) < limits.feed then
    return entries, false
  end
  local first = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  return entries, entries[1] and entries[1][1] == first[1]
end

return happened
