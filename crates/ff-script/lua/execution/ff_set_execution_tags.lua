--- Adds and removes labels of an execution, also after it has finished. A label with the same key is replaced. Removing an absent label is
--- not an error.
---
--- key  core     hash
--- arg  tags     list   key, value, key, value
--- arg  removed  list   keys
---
--- ok   all      keys and values
--- no   execution_not_found
--- no   limit_exceeded
--- no   invalid_args

if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
end
now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
end
local key, before, after, count = keys.of(e.id, 'tags'), {}, {}, 0
local kept = tag.all(e.id, e.core.tags)
for nth = 1, #kept, 2 do
  before[kept[nth]], after[kept[nth]] = kept[nth + 1], kept[nth + 1]
end
for _, name in ipairs(removed) do
  after[name] = nil
end
for nth = 1, #tags, 2 do
  after[tags[nth]] = tags[nth + 1]
end
local all, gone = {}, {}
for name, value in pairs(after) do
  append(all, name, value)
end
count = #all / 2
if count > limits.tags then
  return no.limit_exceeded('field', 'tags', 'limit', text(limits.tags), 'sent', text(count))
end

local is_found, changed = e.place ~= 'staged', false
for name, value in pairs(before) do
  if after[name] ~= value then
    changed = true
    gone[#gone + 1] = after[name] == nil and name or nil
    if is_found then
      index.untag(e.core.namespace, name, value, e.id)
    end
  end
end
for name, value in pairs(after) do
  if before[name] ~= value then
    changed = true
    if is_found then
      index.tag(e.core.namespace, name, value, e.core.created_at, e.id)
    end
  end
end
if changed then
  if all[1] then
    call('HSET', key, unpack(all))
  end
  if gone[1] then
    call('HDEL', key, unpack(gone))
  end
  event_feed.to(e, 'tagged')
  record.drop(e, 'tags')
  record.put_if_given(e, 'tags', tag.text(all, 1, #all))
end
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
return ok(all)
