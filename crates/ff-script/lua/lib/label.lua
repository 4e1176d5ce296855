--- Labels, by which executions are found. A hash has them; the record repeats few and short ones, so that a claim need not read it.

local label = {}

--- A longer text would make the hash of a record several times as large.
local MOST_BYTES = 64

--- What the record says of labels, which are keys and values from one position of a list to another: a line each, or only that
--- there are some; nothing when there are none.
function label.text(tags, first, last)
  if last < first then
    return nil
  end
  local lines = table.concat(tags, '\n', first, last)
  return #lines <= MOST_BYTES and lines or '1'
end

--- The labels of an execution whose record says this of them, as keys and values in turn.
function label.all(id, said)
  if not said then
    return {}
  elseif said == '1' then
    return call('HGETALL', keys.of(id, 'tags'))
  end
  local tags = {}
  for line in said:gmatch('[^\n]+') do
    tags[#tags + 1] = line
  end
  return tags
end

--- An execution is found by its labels from now on.
function label.add_all(e)
  local tags = label.all(e.id, e.core.tags)
  for nth = 1, #tags, 2 do
    index.label(e.core.namespace, tags[nth], tags[nth + 1], e.core.created_at, e.id)
  end
end

--- It is found by them no longer.
function label.remove_all(e)
  local tags = label.all(e.id, e.core.tags)
  for nth = 1, #tags, 2 do
    index.unlabel(e.core.namespace, tags[nth], tags[nth + 1], e.id)
  end
end

return label
