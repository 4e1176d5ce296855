--- How lanes are configured here, and how much of each is where: of what waits, is delayed, held, suspended, blocked and
--- finished how many there are, and the first of them.
---
--- key  lanes   set
--- arg  wanted  list   lanes as indexes name them
---
--- ok   found   of each its settings as names and values, then number and first of each standing, empty when there is none
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
  found[nth] = fields
end
return ok(found)
