--- Says how the edges into a member are to join, which may all be still to come. Fixed with its first edge.
---
--- key  core                     hash
--- arg  joins                    list    as `graph_args` reads one
--- arg  expected_graph_revision  int?    only if the graph has not changed since
---
--- ok   graph_revision
--- ok   members                  none
--- ok   edges                    none
--- no   flow_not_found
--- no   flow_already_terminal
--- no   stale_graph_revision
--- no   execution_not_in_flow
--- no   invalid_input
--- no   invalid_args

local specs = graph_args.joins(joins)
if not specs then
  return no.invalid_args('field', 'joins')
elseif #specs ~= 1 then
  return no.invalid_input('field', 'joins', 'detail', 'is one')
end
local growth = { nodes = {}, joins = specs, edges = {}, revision = expected_graph_revision, may_be_short = true }
return grow(keys.flow_id(core), growth, now())
