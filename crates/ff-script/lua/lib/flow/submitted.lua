--- Returns the reply to the submitter of a flow: its state, how many members and edges it has, and its revision.

return function(flow)
  local core = flow.core
  return flow_record.state(flow), text(core.nodes), text(core.edges), text(core.graph_revision)
end
