--- Adds one member to a live flow.
---
--- key  core                     hash
--- arg  node                     list    one node in the format of `graph_args`
--- arg  expected_graph_revision  int?    refused when the graph has another revision
---
--- ok   graph_revision
--- ok   members                  its execution
--- ok   edges                    none
--- no   flow_not_found
--- no   flow_already_terminal
--- no   stale_graph_revision
--- no   execution_already_in_flow
--- no   not_runnable
--- no   limit_exceeded
--- no   payload_too_large
--- no   invalid_input
--- no   invalid_args

local nodes = graph_args.nodes(node)
if not nodes then
  return no.invalid_args('field', 'node')
elseif #nodes ~= 1 then
  return no.invalid_input('field', 'node', 'detail', 'is one')
end
return grow(keys.flow_id(core), { nodes = nodes, joins = {}, edges = {}, revision = expected_graph_revision }, now())
