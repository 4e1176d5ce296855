--- The indexes of flows, and of their pending work.

local flow_index = {}

--- How long before its score pending work is due. The pump does not wait for the grace of a cancellation to end.
function flow_index.lead(name)
  return name == 'cancel_backlog' and limits.cancel_grace_ms or 0
end

--- Something is owed, or was until now: by an execution, or by a flow.
function flow_index.owe(name, score, id)
  index.add(keys.index(name), score, id)
  hint.due(name, score - flow_index.lead(name))
end

function flow_index.unowe(name, id)
  index.remove(keys.index(name), id)
end

--- The siblings of a join are to be looked at, or have been.
function flow_index.pend_group(flow_id, id)
  call('SADD', keys.index('pending_cancel_groups'), flow_id .. '|' .. id)
end

function flow_index.unpend_group(flow_id, id)
  call('SREM', keys.index('pending_cancel_groups'), flow_id .. '|' .. id)
end

--- A flow can be seen.
function flow_index.open(created_at, flow_id)
  index.add(keys.index('flows'), created_at, flow_id)
  call('SADD', keys.index('flow_index'), flow_id)
end

--- A flow is gone.
function flow_index.close(flow_id)
  index.remove(keys.index('flows'), flow_id)
  call('SREM', keys.index('flow_index'), flow_id)
end

return flow_index
