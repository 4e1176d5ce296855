--- Adds members and edges to a live flow, all of them or none. An edge from an upstream that has ended is settled at once. An edge into a
--- member that has started is refused, unless the holder of that member adds it to wait for its children.
---
--- key  core                     hash
--- arg  nodes                    list    in the format of `graph_args`
--- arg  joins                    list    likewise
--- arg  edges                    list    likewise
--- arg  expected_graph_revision  int?    refused when the graph has another revision
--- arg  holder_id                text?   the member that adds them, with its fence
--- arg  lease_id                 uuid?
--- arg  lease_epoch              int?
--- arg  attempt_id               uuid?
--- arg  idempotency_key          text?
---
--- ok   graph_revision
--- ok   members                  the executions of the new nodes, in their order
--- ok   edges                    id and state of each new edge, in their order
--- no   flow_not_found
--- no   flow_already_terminal
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   fence_required
--- no   partial_fence_triple
--- no   stale_graph_revision
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

local growth = {
  nodes = graph_args.nodes(nodes),
  joins = graph_args.joins(joins),
  edges = graph_args.edges(edges),
  revision = expected_graph_revision,
  key = idempotency_key,
}
if not growth.nodes or not growth.joins or not growth.edges then
  return no.invalid_args('field', not growth.nodes and 'nodes' or not growth.joins and 'joins' or 'edges')
end
local refusal = holder_id and fence(lease_id, lease_epoch, attempt_id)
if refusal then
  return refusal
elseif holder_id then
  growth.holder = { id = holder_id, lease_id = lease_id, attempt = lease.attempt_text(text(lease_epoch), attempt_id) }
end
return grow(keys.flow_id(core), growth, now())
