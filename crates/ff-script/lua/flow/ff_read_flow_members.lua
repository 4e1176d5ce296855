--- Reads members of a flow in the order they were added, a page at a time.
---
--- key  core     hash
--- arg  staged   flag   also of a flow that is staged or being forgotten
--- arg  from     int    position of the first
--- arg  limit    int
---
--- ok   members  id, record and edge group of each member
--- no   flow_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.flow_id(core)
if not flow_record.is_there(core, staged) then
  return no.flow_not_found()
end
local last = from + math.min(limit, limits.flow_read_at_once) - 1
local members = call('LRANGE', keys.flow(id, 'nodes'), from, last)
for nth, each in ipairs(members) do
  members[nth] = {
    each, call('HGETALL', keys.of(each, 'core')), call('HGETALL', keys.flow(id, 'edgegroup:' .. each)),
  }
end
return ok(members)
