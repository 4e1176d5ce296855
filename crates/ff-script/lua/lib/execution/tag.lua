--- Tags, by which executions are found. A hash stores them. The record repeats tags that are few and short, so that a claim need not
--- read the hash.

local tag = {}

--- A longer text would make the hash of a record several times as large.
local MOST_BYTES = 64

--- Returns the tags as the record stores them: a line per key or value, `1` if they are too long, nil if there are none. The tags are
--- keys and values in turn, at positions `first` to `last` of a list.
function tag.text(tags, first, last)
  if last < first then
    return nil
  end
  local lines = table.concat(tags, '\n', first, last)
  return #lines <= MOST_BYTES and lines or '1'
end

--- Returns the tags of an execution as keys and values in turn. `field` is the field of its record.
function tag.all(id, field)
  if not field then
    return {}
  elseif field == '1' then
    return call('HGETALL', keys.of(id, 'tags'))
  end
  local tags = {}
  for line in field:gmatch('[^\n]+') do
    tags[#tags + 1] = line
  end
  return tags
end

--- Adds an execution to the indexes of its tags.
function tag.add_all(e)
  local tags = tag.all(e.id, e.core.tags)
  for nth = 1, #tags, 2 do
    index.tag(e.core.namespace, tags[nth], tags[nth + 1], e.core.created_at, e.id)
  end
end

--- Removes an execution from the indexes of its tags.
function tag.remove_all(e)
  local tags = tag.all(e.id, e.core.tags)
  for nth = 1, #tags, 2 do
    index.untag(e.core.namespace, tags[nth], tags[nth + 1], e.id)
  end
end

return tag
