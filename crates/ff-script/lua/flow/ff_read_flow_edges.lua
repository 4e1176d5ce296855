--- Reads edges of a flow in the order of their ids, a page at a time.
---
--- key  core     hash
--- arg  staged   flag    also of a flow that is staged or being forgotten
--- arg  after    uuid?
--- arg  limit    int
---
--- ok   edges    id, fields and current state of each edge
--- no   flow_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.flow_id(core)
if not flow_record.is_there(core, staged) then
  return no.flow_not_found()
end
local most, first = math.min(limit, limits.flow_read_at_once), after and '(e' .. after or '[e'
local edges = call('ZRANGE', keys.flow(id, 'graph'), first, '(f', 'BYLEX', 'LIMIT', 0, most)
for nth, entry in ipairs(edges) do
  local edge_id = entry:sub(2)
  local key = keys.flow(id, 'edge:' .. edge_id)
  local downstream = call('HGET', key, 'downstream_execution_id')
  edges[nth] = { edge_id, call('HGETALL', key), call('HGETALL', keys.dep_edge(downstream, edge_id)) }
end
return ok(edges)
