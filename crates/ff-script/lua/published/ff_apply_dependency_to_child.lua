--- Returns the state of an edge into a child. Settles the edge first if its upstream has ended and no notification is pending.
---
--- key  core                   hash
--- arg  edge_id                uuid
--- arg  upstream_id            text
---
--- ok   state                  of the edge
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_dependency
--- no   invalid_args
--- flag allow-oom                      a full server must still be able to finish

now()
local id = keys.id(core)
local child = record.load(id)
if not child then
  return no.execution_not_found()
elseif not child.core.flow_id then
  return no.execution_not_in_flow('field', 'execution_id', 'detail', 'is in no flow')
end
local flow_id = child.core.flow_id
local ends = call('HMGET', keys.flow(flow_id, 'edge:' .. edge_id), 'upstream_execution_id', 'downstream_execution_id')
local upstream = ends[1] == upstream_id and ends[2] == id and record.find(upstream_id)
if not upstream then
  return no.invalid_dependency('field', 'edge_id')
end
local one = step.edge({ id = edge_id, flow_id = flow_id, upstream = upstream_id, downstream = id })
local outcome = upstream.core.terminal_outcome
if one.state ~= 'pending' or not outcome or upstream.pending_propagation then
  return already(one.state)
end
dependents.settle(one, dependents.state_after(outcome), upstream)
return ok(one.state)
