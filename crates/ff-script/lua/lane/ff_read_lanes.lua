--- How lanes are configured here, and how much of each is where: of what waits, is delayed, held, suspended, blocked and
--- finished how many there are, and the first of them.
---
--- key  lanes   set
--- arg  wanted  list   lanes as indexes name them
---
--- ok   found   of each its settings as names and values, then number and first of each standing, empty when there is none
--- no   invalid_args
--- flag no-writes

--- Names by which a lane's standings are found, in the order they are told in.
local STANDINGS = { 'eligible', 'delayed', 'active', 'suspended', 'blocked:dependencies', 'terminal' }

local moment = clock()

--- The oldest of what waits: the first at each of the highest priorities is looked at.
local function oldest(queue)
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

local found = {}
for nth, lane in ipairs(wanted) do
  local told = { call('HGETALL', keys.lane(lane, 'config')) }
  for _, standing in ipairs(STANDINGS) do
    local zset = keys.lane(lane, standing)
    local count, first = call('ZCARD', zset), nil
    if count > 0 then
      first = standing == 'eligible' and oldest(zset) or tonumber(call('ZRANGE', zset, 0, 0, 'WITHSCORES')[2])
    end
    told[#told + 1], told[#told + 2] = text(count), first and text(first) or ''
  end
  found[nth] = told
end
return ok(found)
