--- Adds one edge to a flow that lives. It counts at once; onto an upstream that has ended it is settled at once.
---
--- key  core                     hash
--- arg  edges                    list    as `graph_args` reads one
--- arg  expected_graph_revision  int?    only if the graph has not changed since
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
