--- Takes the next part of a graph. The flow becomes visible with the last part, and not before. A repeated part gets its first answer.
---
--- key  core            hash
--- arg  namespace       text
--- arg  kind            text
--- arg  traceparent     text?  the submitter's trace, when there is one
--- arg  tracestate      text?
--- arg  tags            list   key, value, key, value
--- arg  fingerprint     text   of the whole graph
--- arg  part            int    number of this part, from 0
--- arg  parts           int
--- arg  nodes           list   in the format of `graph_args`
--- arg  edges           list   likewise
---
--- ok   outcome         staged or submitted
--- ok   next_part       when staged; when submitted, the state, followed by the fields below
--- ok   nodes
--- ok   edges
--- ok   graph_revision
--- no   idempotency_conflict
--- no   flow_not_found
--- no   execution_already_in_flow
--- no   execution_not_in_flow
--- no   self_referencing_edge
--- no   dependency_already_exists
--- no   cycle_detected
--- no   not_runnable
--- no   limit_exceeded
--- no   payload_too_large
--- no   invalid_input
--- no   invalid_args

local new_nodes, new_edges = graph_args.nodes(nodes), graph_args.edges(edges)
if not new_nodes or not new_edges or #tags % 2 == 1 then
  return no.invalid_args('field', not new_nodes and 'nodes' or not new_edges and 'edges' or 'tags')
elseif part >= parts then
  local detail = 'must be below ' .. text(parts) .. ', got ' .. text(part)
  return no.invalid_input('field', 'part', 'detail', detail)
end
local moment, id = now(), keys.flow_id(core)
local answer, flow = staging.known(step.flow(id), namespace, fingerprint, part)
if answer then
  return answer
elseif part == 0 then
  flow = flow_record.new(id, namespace, kind, moment)
  flow.tags = tags
  flow_record.put_if_given(flow, 'traceparent', traceparent)
  flow_record.put_if_given(flow, 'tracestate', tracestate)
  flow_record.put(flow, 'fingerprint', fingerprint)
  if parts > 1 then
    flow_record.put(flow, 'staging_parts', 0)
  end
  step.begin_flow(flow)
end
local is_last = part + 1 == parts
local refusal = graph.add_nodes(flow, new_nodes, graph.entered(new_edges), false, moment)
  or graph.add_edges(flow, new_edges)
  or staging.short_refusal(flow, is_last)
if refusal then
  return refusal
elseif not is_last then
  staging.await_part(flow, moment)
  return ok('staged', text(part + 1))
elseif flow.core.nodes == 0 then
  return no.invalid_input('field', 'nodes', 'detail', 'must contain at least one node')
end
staging.open(flow)
step.run()
return ok('submitted', submitted(flow))
