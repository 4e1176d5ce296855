--- Reads the settings of lanes on this partition, and the number and the first of their executions in each standing.
---
--- key  lanes   set
--- arg  wanted  list   lane names used in indexes
---
--- ok   found   for each lane its settings as names and values, count and first of each standing, and count and first of each class that waits
--- no   invalid_args
--- flag no-writes

local moment = clock()

local found = {}
for nth, lane in ipairs(wanted) do
  local fields = { call('HGETALL', keys.lane(lane, 'config')) }
  for _, name in ipairs(standing.all) do
    local count, first = standing.depth(name, keys.lane(lane, name), moment)
    fields[#fields + 1], fields[#fields + 2] = text(count), first
  end
  local classed = {}
  for nth, queue in ipairs(standing.classed(keys.lane_prefix(lane))) do
    local count, first = standing.depth('eligible', queue, moment)
    classed[2 * nth - 1], classed[2 * nth] = text(count), first
  end
  fields[#fields + 1] = classed
  found[nth] = fields
end
return ok(found)
