--- Reads the settings of lanes on this partition, and the number and the first of their executions in each place.
---
--- key  lanes   set
--- arg  wanted  list   lane names used in indexes
---
--- ok   found   for each lane its settings as names and values, count and first of each place, and count and first of each class that waits
--- no   invalid_args
--- flag no-writes

local moment = clock()

local found = {}
for nth, lane in ipairs(wanted) do
  local fields = { call('HGETALL', keys.lane(lane, 'config')) }
  for _, name in ipairs(lane_place.all) do
    local count, first = lane_place.depth(name, keys.lane(lane, name), moment)
    fields[#fields + 1], fields[#fields + 2] = text(count), first
  end
  local classed = {}
  for nth, queue in ipairs(lane_place.class_queues(keys.lane_prefix(lane))) do
    local count, first = lane_place.depth('eligible', queue, moment)
    classed[2 * nth - 1], classed[2 * nth] = text(count), first
  end
  fields[#fields + 1] = classed
  found[nth] = fields
end
return ok(found)
