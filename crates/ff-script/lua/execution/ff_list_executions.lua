--- Executions of a partition, newest first: those of a namespace, and of a lane and in a state where these are said.
---
--- Looks at a bounded number of them and says where to go on.
---
--- key  all_executions  zset
--- arg  namespace       text
--- arg  lane_id         text?
--- arg  state           text?
--- arg  before          int?    created before this moment, or
--- arg  before_id       text?   in this very moment and of a smaller id
--- arg  limit           int
---
--- ok   more            1 when there may be more
--- ok   last_at         ms, creation of the last one looked at, empty when there was none
--- ok   last_id         its id
--- ok   found           id, creation, and again
--- no   invalid_args
--- flag no-writes

local function wanted(id)
  local fields = call('HMGET', keys.of(id, 'core'), 'namespace', 'lane_id', 'public_state')
  return (fields[1] or 'default') == namespace
    and (not lane_id or (fields[2] or 'default') == lane_id)
    and (not state or fields[3] == state)
end

local newest = before and (before_id and before or '(' .. text(before)) or '+inf'
local at_once = math.min(limit + 1, limits.listed_at_once)
local found, looked, offset = {}, 0, 0
local last_at, last_id = '', ''
repeat
  local range = { newest, '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, at_once, 'WITHSCORES' }
  local flat = call('ZRANGE', all_executions, unpack(range))
  for nth = 1, #flat, 2 do
    local id, created_at = flat[nth], flat[nth + 1]
    if not before_id or tonumber(created_at) < before or id < before_id then
      if #found == 2 * limit then
        return ok('1', last_at, last_id, found)
      end
      last_at, last_id, looked = created_at, id, looked + 1
      if wanted(id) then
        found[#found + 1], found[#found + 2] = id, created_at
      end
    end
  end
  if #flat < 2 * at_once then
    return ok('', last_at, last_id, found)
  end
  offset = offset + at_once
until looked >= limits.listed_in_all
return ok('1', last_at, last_id, found)
