--- The places of a lane: how many executions are in each place, and the first one there.

local lane_place = {}

--- The names of a lane's places, in the order of a reply. Finished executions come last.
lane_place.all = {
  'eligible', 'delayed', 'active', 'suspended', 'blocked:dependencies', 'blocked:route', 'blocked:quota', 'blocked:budget',
  'blocked:operator', 'terminal',
}

--- Returns the creation time of the oldest waiting execution. Looks at the first one at each of the highest priorities.
local function oldest(queue, moment)
  local from, first = '-inf', nil
  for _ = 1, limits.ageing_priorities do
    local head = call('ZRANGE', queue, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if not head[1] then
      break
    end
    local behind, created_at = index.head(tonumber(head[2]), moment)
    local _, highest = index.scores(limits.priority_max - behind, moment)
    first, from = math.min(first or created_at, created_at), '(' .. text(highest)
  end
  return first
end

--- Returns how many executions are in a place, and the time of the first one, empty if there is none.
function lane_place.depth(name, zset, moment)
  local count, first = call('ZCARD', zset), nil
  -- Finished executions have no age.
  if count > 0 and name == 'eligible' then
    first = oldest(zset, moment)
  elseif count > 0 and name ~= 'terminal' then
    first = tonumber(call('ZRANGE', zset, 0, 0, 'WITHSCORES')[2])
  end
  return count, first and text(first) or ''
end

--- Returns the queues of a configured lane for work with requirements, one per class, and the queue of keyed work.
function lane_place.class_queues(prefix)
  local queues = {}
  local classes, has_keys = unpack(call('HMGET', prefix .. 'config', 'classes', 'keyed'))
  for class in (classes or ''):gmatch('[^\n]+') do
    queues[#queues + 1] = prefix .. 'eligible:class:' .. class
  end
  queues[#queues + 1] = has_keys and prefix .. 'eligible_keyed' or nil
  return queues
end

return lane_place
