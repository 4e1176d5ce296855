--- Sets how the edges into a member join. It may come before any edge, and is fixed with the first one.
---
--- key  core                     hash
--- arg  joins                    list    one join in the format of `graph_args`
--- arg  expected_graph_revision  int?    refused when the graph has another revision
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
