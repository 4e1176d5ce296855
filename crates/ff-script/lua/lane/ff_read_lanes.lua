--- How lanes are configured here, and how much of each is where: of what waits, is delayed, held, suspended, blocked and
--- finished how many there are, and the first of them.
---
--- key  lanes   set
--- arg  wanted  list   lanes as indexes name them
---
--- ok   found   of each its settings as names and values, number and first of each standing, and both of each class that waits
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
