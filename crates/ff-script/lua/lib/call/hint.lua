--- Hints tell processes where to look. They save a search, are never authoritative, and may be lost. All hints of a call form one message,
--- one line each.

local hint = {}

local message

function hint.begin()
  message = nil
end

local function say(line)
  message = message and message .. '\n' .. line or line
end

local function partition()
  return here.tag:match('%d+')
end

--- Announces the best waiting work of a queue. The class comes last, if there is one.
function hint.ready(lane, kind, class, behind, created_at)
  local line = 'ready ' .. partition() .. ' ' .. lane .. ' ' .. kind .. ' ' .. behind .. ' ' .. text(created_at)
  say(class and line .. ' ' .. class or line)
end

--- Notes that an entry of an index is due at a time. Sends a hint if listeners know no time that is as early and still to come.
function hint.due(name, at)
  local memory = here.memory
  local earliest, announced = memory.earliest[name], memory.announced
  if earliest and at < earliest then
    memory.earliest[name] = at
  end
  if not announced or at < announced or announced < memory.moment then
    memory.announced = at
    say('due ' .. partition() .. ' ' .. text(at))
  end
end

--- Announces that a holder lost its lease.
function hint.lost(id, held, ending)
  say('lost ' .. id .. ' ' .. held.lease_id .. ' ' .. held.attempt .. ' ' .. ending .. ' ' .. lease.instance(held.holder))
end

--- Registers a caller that waits for the end of an execution or a flow, or for events of a flow. The caller asks again from time to time,
--- so a lost entry only delays it.
function hint.await(id)
  local memory = here.memory
  if memory.awaited[id] then
    return
  elseif memory.awaiting >= limits.awaited_remembered then
    memory.awaited, memory.awaiting = {}, 0
  end
  memory.awaited[id], memory.awaiting = true, memory.awaiting + 1
end

local function of_flow(id)
  return 'events of ' .. id
end

--- Registers a reader of a flow's events, who may wait for more.
function hint.await_events(flow_id)
  hint.await(of_flow(flow_id))
end

--- Sends a hint if a caller waits for it, and removes the entry.
local function notify(awaited, word, id)
  local memory = here.memory
  if memory.awaited[awaited] then
    memory.awaited[awaited], memory.awaiting = nil, memory.awaiting - 1
    say(word .. ' ' .. id)
  end
end

--- Sends a hint that an execution ended, if a caller waits for it.
function hint.ended(id)
  notify(id, 'ended', id)
end

--- Announces new output of an execution, or the beginning or end of one of its attempts.
function hint.streamed(id)
  say('stream ' .. id)
end

--- Sends a hint that a flow ended, if a caller waits for it.
function hint.flow_ended(flow_id)
  notify(flow_id, 'flow_ended', flow_id)
end

--- Sends a hint that a flow has new events, if they were read since the last hint.
function hint.flow_moved(flow_id)
  notify(of_flow(flow_id), 'moved', flow_id)
end

--- Registers a reader of the feed of delivered signals, who may wait for more.
function hint.await_deliveries()
  here.memory.feed_read = true
end

--- Sends a hint that the feed of delivered signals has grown, if it was read since the last hint.
function hint.delivered()
  if here.memory.feed_read then
    here.memory.feed_read = false
    say('delivered ' .. partition())
  end
end

--- Registers a reader of this partition's events, who may wait for more.
function hint.await_events_here()
  here.memory.events_read = true
end

--- Sends a hint that an event was recorded, if the feed was read since the last hint.
function hint.event_written()
  if here.memory.events_read then
    here.memory.events_read = false
    say('told ' .. partition())
  end
end

--- Announces that one execution less of a lane with a limit is held here.
function hint.freed(lane)
  say('freed ' .. partition() .. ' ' .. lane)
end

--- Announces the end of a lease that had slots of quota policies.
function hint.slots_freed(id, attempt, slots)
  say('slots ' .. id .. ' ' .. lease.attempt_parts(attempt) .. ' ' .. slots)
end

--- Announces that a quota policy was redefined or deleted.
function hint.quota_defined(policy_id)
  say('quota ' .. policy_id)
end

--- Announces when a schedule must be examined.
function hint.tick(at)
  say('tick ' .. partition() .. ' ' .. text(at))
end

function hint.send()
  if message then
    call('PUBLISH', 'ff:hints', message)
    message = nil
  end
end

return hint
