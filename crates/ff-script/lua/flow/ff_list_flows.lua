--- Lists flows of a namespace on a partition, newest first, optionally of one kind, in one state and with one label.
---
--- It looks at a bounded number of entries and returns where to continue.
---
--- key  flows       zset
--- arg  namespace   text
--- arg  kind        text?
--- arg  state       text?
--- arg  tag_key     text?
--- arg  tag_value   text?
--- arg  before      int?    created before this time
--- arg  before_id   text?   also those created at `before` with a smaller id
--- arg  limit       int
---
--- ok   more        1 when there may be more
--- ok   last_at     ms, creation of the last one looked at, empty when there was none
--- ok   last_id     its id
--- ok   found       id, record, counts and labels of each flow
--- no   invalid_args
--- flag no-writes

local function wanted(id)
  local fields = call('HMGET', keys.flow(id, 'core'), 'namespace', 'kind', 'state', 'sweep_action')
  return fields[1] == namespace
    and fields[4] ~= 'forget'
    and (not kind or fields[2] == kind)
    and (not state or fields[3] == state)
    and (not tag_key or call('HGET', keys.flow(id, 'tags'), tag_key) == tag_value)
end

local function row_of(id)
  return {
    id, call('HGETALL', keys.flow(id, 'core')), call('HGETALL', keys.flow(id, 'summary')),
    call('HGETALL', keys.flow(id, 'tags')),
  }
end

local newest = before and (before_id and before or '(' .. text(before)) or '+inf'
local most = math.min(limit, limits.flow_read_at_once)
local at_once = math.min(most + 1, limits.listed_at_once)
local found, looked, offset = {}, 0, 0
local last_at, last_id = '', ''
repeat
  local range = { newest, '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, at_once, 'WITHSCORES' }
  local flat = call('ZRANGE', flows, unpack(range))
  for nth = 1, #flat, 2 do
    local id, created_at = flat[nth], flat[nth + 1]
    if not before_id or tonumber(created_at) < before or id < before_id then
      if #found == most then
        return ok('1', last_at, last_id, found)
      end
      last_at, last_id, looked = created_at, id, looked + 1
      if wanted(id) then
        found[#found + 1] = row_of(id)
      end
    end
  end
  if #flat < 2 * at_once then
    return ok('', last_at, last_id, found)
  end
  offset = offset + at_once
until looked >= limits.listed_in_all
return ok('1', last_at, last_id, found)
