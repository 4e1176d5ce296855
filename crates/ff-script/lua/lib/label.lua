--- Labels, by which executions are found.

local label = {}

--- The labels of an execution, as keys and values in turn.
local function all(e)
  return e.core.has_tags and call('HGETALL', keys.of(e.id, 'tags')) or {}
end

--- An execution is found by its labels from now on.
function label.add_all(e)
  local tags = all(e)
  for nth = 1, #tags, 2 do
    index.label(e.core.namespace, tags[nth], tags[nth + 1], e.core.created_at, e.id)
  end
end

--- It is found by them no longer.
function label.remove_all(e)
  local tags = all(e)
  for nth = 1, #tags, 2 do
    index.unlabel(e.core.namespace, tags[nth], tags[nth + 1], e.id)
  end
end

return label
