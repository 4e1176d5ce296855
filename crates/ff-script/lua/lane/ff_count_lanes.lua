--- Counts the executions of lanes on this partition by place, and reads the settings of lanes whose home is here. Most lanes have
--- nothing on most partitions, so one `EXISTS` checks several lanes.
---
--- key  lanes     set
--- arg  wanted    list   lane names used in indexes
--- arg  homed     list   lanes whose home is here
--- arg  finished  flag   whether to count finished executions
---
--- ok   settings  names and values for each lane of `homed`
--- ok   found     index in `wanted`, index of the place, count, and first or empty, repeated; rows of one place are to be added up
--- no   invalid_args
--- flag no-writes

--- Number of lanes checked with one `EXISTS`.
local ASKED_AT_ONCE = 16

local moment = clock()
local places = finished and #lane_place.all or #lane_place.all - 1
local found = {}

--- The keys of a range of lanes, grouped by lane: its places, then its settings.
local function keys_of(from, to)
  local names = {}
  for nth = from, to do
    local prefix = keys.lane_prefix(wanted[nth])
    for place = 1, places do
      names[#names + 1] = prefix .. lane_place.all[place]
    end
    names[#names + 1] = prefix .. 'config'
  end
  return names
end

--- Adds the count of one place of a lane. Returns whether the place is not empty.
local function add_count(nth, place, zset)
  local count, first = lane_place.depth(lane_place.all[place], zset, moment)
  if count > 0 then
    local at = #found
    found[at + 1], found[at + 2], found[at + 3], found[at + 4] = text(nth), text(place), text(count), first
  end
  return count > 0
end

for from = 1, #wanted, ASKED_AT_ONCE do
  local to = math.min(from + ASKED_AT_ONCE - 1, #wanted)
  local names = keys_of(from, to)
  local left = call('EXISTS', unpack(names))
  for nth = from, to do
    if left == 0 then
      break
    end
    local before = (nth - from) * (places + 1)
    local own = call('EXISTS', unpack(names, before + 1, before + places + 1))
    left = left - own
    -- Finished executions come first: often there is nothing else.
    for place = places, 1, -1 do
      if own == 0 then
        break
      end
      own = own - (add_count(nth, place, names[before + place]) and 1 or 0)
    end
    -- The lane is configured, so work with requirements may wait in queues of its own.
    for _, queue in ipairs(own > 0 and lane_place.class_queues(keys.lane_prefix(wanted[nth])) or {}) do
      add_count(nth, 1, queue)
    end
  end
end
local settings = {}
for nth, lane in ipairs(homed) do
  settings[nth] = call('HGETALL', keys.lane_prefix(lane) .. 'config')
end
return ok(settings, found)
