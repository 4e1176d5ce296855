--- Adds one edge to a live flow, with immediate effect. An edge from an upstream that has ended is settled at once.
---
--- key  core                     hash
--- arg  edges                    list    one edge in the format of `graph_args`
--- arg  expected_graph_revision  int?    refused when the graph has another revision
---
--- ok   graph_revision
--- ok   members                  none
--- ok   edges                    its id and state
--- no   flow_not_found
--- no   flow_already_terminal
--- no   stale_graph_revision
--- no   execution_not_in_flow
--- no   self_referencing_edge
--- no   dependency_already_exists
--- no   cycle_detected
--- no   not_runnable
--- no   limit_exceeded
--- no   invalid_input
--- no   invalid_args

local new = graph_args.edges(edges)
if not new then
  return no.invalid_args('field', 'edges')
elseif #new ~= 1 then
  return no.invalid_input('field', 'edges', 'detail', 'is one')
end
return grow(keys.flow_id(core), { nodes = {}, joins = {}, edges = new, revision = expected_graph_revision }, now())
