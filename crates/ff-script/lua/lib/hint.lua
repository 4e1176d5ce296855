--- Hints: who should look where. They save a search, carry no truth and may be lost. All hints of a call are one message,
--- a line each.

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

--- Something waits in a queue that was empty. Its class comes last, when it has one.
function hint.ready(lane, kind, class, behind, created_at)
  local line = 'ready ' .. partition() .. ' ' .. lane .. ' ' .. kind .. ' ' .. behind .. ' ' .. text(created_at)
  say(class and line .. ' ' .. class or line)
end

--- Something in an index is due at a moment, which may be before everything that was there, and earlier than listeners know.
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

--- A holder lost its lease.
function hint.lost(id, held, ending)
  say('lost ' .. id .. ' ' .. held.lease_id .. ' ' .. held.attempt .. ' ' .. ending .. ' ' .. lease.instance(held.holder))
end

--- A caller waits for an execution or a flow to end, or for more of a flow's events. It asks again now and then, so that an
--- entry lost from this table only delays it.
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

--- A reader has read the events of a flow, and may be waiting for more.
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

--- An execution ended: a hint, if a caller waits for it.
function hint.ended(id)
  notify(id, 'ended', id)
end

--- There is more of an execution's output, or an attempt of it began or ended.
function hint.streamed(id)
  say('stream ' .. id)
end

--- A flow ended: a hint, if a caller waits for it.
function hint.flow_ended(flow_id)
  notify(flow_id, 'flow_ended', flow_id)
end

--- Something happened in a flow: a hint, if its events were read since the last one.
function hint.flow_moved(flow_id)
  notify(of_flow(flow_id), 'moved', flow_id)
end

--- A reader has read the feed of delivered signals, and may be waiting for more.
function hint.await_deliveries()
  here.memory.feed_read = true
end

--- The feed has grown: a hint, if it was read since the last one.
function hint.delivered()
  if here.memory.feed_read then
    here.memory.feed_read = false
    say('delivered ' .. partition())
  end
end

--- A reader has read the events of this partition, and may be waiting for more.
function hint.await_events_here()
  here.memory.events_read = true
end

--- An event was recorded: a hint, if the feed was read since the last one.
function hint.event_written()
  if here.memory.events_read then
    here.memory.events_read = false
    say('told ' .. partition())
  end
end

--- One less of a lane with a limit is held here.
function hint.freed(lane)
  say('freed ' .. partition() .. ' ' .. lane)
end

--- A lease that had slots of quota policies has ended.
function hint.slots_freed(id, attempt, slots)
  say('slots ' .. id .. ' ' .. lease.attempt_parts(attempt) .. ' ' .. slots)
end

--- A quota policy was defined anew, or is gone.
function hint.quota_defined(policy_id)
  say('quota ' .. policy_id)
end

--- A schedule has to be looked at, at a moment.
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
