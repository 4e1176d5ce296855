--- The indexes of flows and of their pending work.

local flow_index = {}

--- Returns how long before its score pending work is due. The pump does not wait for the grace period of a cancellation to end.
function flow_index.lead(name)
  return name == 'cancel_backlog' and limits.cancel_grace_ms or 0
end

--- Adds pending work of an execution or a flow to an index; `unowe` removes it.
function flow_index.owe(name, score, id)
  index.add(keys.index(name), score, id)
  hint.due(name, score - flow_index.lead(name))
end

function flow_index.unowe(name, id)
  index.remove(keys.index(name), id)
end

--- Marks the siblings of a join as pending; `unpend_group` removes the mark.
function flow_index.pend_group(flow_id, id)
  call('SADD', keys.index('pending_cancel_groups'), flow_id .. '|' .. id)
end

function flow_index.unpend_group(flow_id, id)
  call('SREM', keys.index('pending_cancel_groups'), flow_id .. '|' .. id)
end

--- Adds a visible flow to the indexes of flows.
function flow_index.open(created_at, flow_id)
  index.add(keys.index('flows'), created_at, flow_id)
  call('SADD', keys.index('flow_index'), flow_id)
end

--- Removes a forgotten flow from these indexes.
function flow_index.close(flow_id)
  index.remove(keys.index('flows'), flow_id)
  call('SREM', keys.index('flow_index'), flow_id)
end

return flow_index
