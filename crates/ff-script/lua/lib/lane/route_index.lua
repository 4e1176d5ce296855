--- The index of executions that no live worker can run, by lane, kind and requirement class.

local route_index = {}

--- Adds an execution whose requirements no live worker meets. Its queue is added to the list that sweeps use.
function route_index.add(lane, kind, class, created_at, id)
  if class then
    index.add(keys.unroutable(lane, kind, class), created_at, id)
    call('SADD', keys.index('lanes'), keys.queue_name(lane, kind, ',' .. class))
  end
end

--- Removes an execution that a live worker may run again.
function route_index.remove(lane, kind, class, id)
  if class then
    index.remove(keys.unroutable(lane, kind, class), id)
  end
end

return route_index
