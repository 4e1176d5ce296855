--- Lists executions of a partition that match the filters, newest first, from an index by creation. A filter that every entry of the index
--- meets may be left out.
---
--- It looks at a bounded number of entries and returns where to continue.
---
--- key  walked     zset
--- arg  namespace  text?
--- arg  lane_id    text?
--- arg  state      text?
--- arg  kind       text?
--- arg  tags       list    key, value, key, value
--- arg  from       int?    created at this time or later
--- arg  before     int?    created before this time
--- arg  before_id  text?   also those created at `before` with a smaller id
--- arg  limit      int
--- arg  most       int     maximum number to look at
---
--- ok   more       1 when there may be more
--- ok   last_at    ms, creation of the last one looked at, empty when there was none
--- ok   last_id    its id
--- ok   looked     number looked at
--- ok   found      execution id and creation time, repeated
--- no   invalid_args
--- flag no-writes

if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
end
local names, values = {}, {}
for nth = 1, #tags, 2 do
  names[#names + 1], values[#values + 1] = tags[nth], tags[nth + 1]
end

local function has_tags(id)
  local kept = names[1] and call('HMGET', keys.of(id, 'tags'), unpack(names)) or {}
  for nth = 1, #names do
    if kept[nth] ~= values[nth] then
      return false
    end
  end
  return true
end

local function wanted(id)
  if not (namespace or lane_id or state or kind) then
    return has_tags(id)
  end
  local fields = call('HMGET', keys.of(id, 'core'), 'namespace', 'lane_id', 'public_state', 'kind')
  return (not namespace or (fields[1] or 'default') == namespace)
    and (not lane_id or (fields[2] or 'default') == lane_id)
    and (not state or fields[3] == state)
    and (not kind or fields[4] == kind)
    and has_tags(id)
end

local newest = before and (before_id and before or '(' .. text(before)) or '+inf'
local in_all = math.min(most, limits.listed_in_all)
local at_once = math.min(limit + 1, limits.listed_at_once)
local found, looked, offset = {}, 0, 0
local last_at, last_id = '', ''
repeat
  local range = { newest, from or '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, at_once, 'WITHSCORES' }
  local flat = call('ZRANGE', walked, unpack(range))
  for nth = 1, #flat, 2 do
    local id, created_at = flat[nth], flat[nth + 1]
    if not before_id or tonumber(created_at) < before or id < before_id then
      if #found == 2 * limit then
        return ok('1', last_at, last_id, text(looked), found)
      end
      last_at, last_id, looked = created_at, id, looked + 1
      if wanted(id) then
        found[#found + 1], found[#found + 2] = id, created_at
      end
    end
  end
  if #flat < 2 * at_once then
    return ok('', last_at, last_id, text(looked), found)
  end
  offset = offset + at_once
until looked >= in_all
return ok('1', last_at, last_id, text(looked), found)
