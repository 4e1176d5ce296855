--- The turns of keys of fair lanes, and the queues of their work. Claims take the keys in the order of their turns.
---
--- The turn of a key is a hash: `at` is its time, in virtual time, and a field named kind, space and class has how many of them wait. The
--- empty key is plain work; it has the `clock` of the lane instead of counts. Keys are in sorted sets by turn: one for each kind and class
--- with waiting work, one for each such class, and one for keys without waiting work.

local turns = {}

--- Returns how far a claim puts off the next turn of a key.
local function step_of(configured, key)
  return math.floor(limits.turn_step / (configured.weight_of[key] or 1))
end

--- Returns the time of the turn of plain work, and the clock.
local function clock_of(lane)
  local at, time = unpack(call('HMGET', keys.turn(lane, ''), 'at', 'clock'))
  return tonumber(at or 0), tonumber(time or 0)
end

--- Returns the key by which a lane queues new work, or nil. Its tags are keys and values in turn, at positions `first` to `last` of a list.
function turns.key_of(lane, namespace, kind, tags, first, last)
  local configured = settings.of(lane)
  local by = configured and configured.fair_by
  if not by then
    return nil
  elseif by == 'kind' then
    return kind
  elseif by == 'namespace' then
    return namespace
  end
  local wanted = by:match('^tag:(.*)$')
  for nth = first, last, 2 do
    if tags[nth] == wanted then
      return tags[nth + 1]
    end
  end
end

--- Adds `by` waiting executions to a key. A key without waiting work begins at the clock, or at its last turn if that is later.
local function join(lane, kind, class, key, by)
  local hash = keys.turn(lane, key)
  if call('HINCRBY', hash, kind .. ' ' .. (class or ''), by) > by then
    return
  end
  local at, fields = call('HGET', hash, 'at'), call('HLEN', hash)
  if not at or fields == 2 then
    local _, time = clock_of(lane)
    if at then
      call('ZREM', keys.turns_idle(lane), key)
    end
    at = text(math.max(tonumber(at or 0), time))
    call('HSET', hash, 'at', at)
  end
  local list = keys.turns(lane, kind, class)
  call('ZADD', list, at, key)
  call('ZADD', keys.turns_any(lane, class), at, key)
  if call('ZCARD', list) == 1 then
    call('SADD', keys.index('lanes'), keys.queue_name(lane, kind, class))
    hint.ready(lane, kind, class, limits.fair_behind, 0)
  end
end

--- Returns whether any work of a key waits, and whether any of a class does.
local function waiting(hash, class)
  local any, of_class = false, false
  for _, field in ipairs(call('HKEYS', hash)) do
    local of = field:match('^%S+ (.*)$')
    any, of_class = any or of ~= nil, of_class or of == class
  end
  return any, of_class
end

--- Removes `by` waiting executions from a key. A key without waiting work is remembered until the clock has passed its turn.
local function leave(lane, kind, class, key, by)
  local hash, queue = keys.turn(lane, key), kind .. ' ' .. (class or '')
  if call('HINCRBY', hash, queue, -by) > 0 then
    return
  end
  call('HDEL', hash, queue)
  call('ZREM', keys.turns(lane, kind, class), key)
  local any, of_class = waiting(hash, class or '')
  if not of_class then
    call('ZREM', keys.turns_any(lane, class), key)
  end
  if any then
    return
  end
  local at, _, time = call('HGET', hash, 'at'), clock_of(lane)
  if tonumber(at) > time then
    call('ZADD', keys.turns_idle(lane), at, key)
  else
    call('DEL', hash)
  end
end

--- Adds an execution that waits for a worker under a key.
function turns.wait(lane, kind, class, key, priority, created_at, id)
  local score = index.score(priority, created_at)
  index.add(keys.waiting_keyed(lane), score, id)
  index.add(keys.queue_of_key(lane, kind, class, key), score, id)
  join(lane, kind, class, key, 1)
end

function turns.unwait(lane, kind, class, key, id)
  index.remove(keys.waiting_keyed(lane), id)
  index.remove(keys.queue_of_key(lane, kind, class, key), id)
  leave(lane, kind, class, key, 1)
end

--- Moves a waiting execution before or after others of its key.
function turns.rank(lane, kind, class, key, priority, created_at, id)
  local score = index.score(priority, created_at)
  index.add(keys.waiting_keyed(lane), score, id)
  index.add(keys.queue_of_key(lane, kind, class, key), score, id)
end

--- Removes waiting executions of one kind, class and key that are taken.
function turns.take_all(lane, kind, class, key, ids)
  call('ZREM', keys.waiting_keyed(lane), unpack(ids))
  call('ZREM', keys.queue_of_key(lane, kind, class, key), unpack(ids))
  leave(lane, kind, class, key, #ids)
end

local function sooner(a, b)
  return a.at < b.at or a.at == b.at and is_before(a.key, b.key)
end

--- Returns the keys of a lane whose turns come first: of some kinds, or of any if `kinds` is empty, and of these classes or of none.
local function keys_in_turn(lane, kinds, classes, most)
  local found, seen = {}, {}
  local function look(list)
    local flat = call('ZRANGE', list, 0, most - 1, 'WITHSCORES')
    for nth = 1, #flat, 2 do
      if not seen[flat[nth]] then
        seen[flat[nth]], found[#found + 1] = true, { key = flat[nth], at = tonumber(flat[nth + 1]) }
      end
    end
  end
  for nth = 0, #classes do
    for _, kind in ipairs(kinds) do
      look(keys.turns(lane, kind, classes[nth]))
    end
    if not kinds[1] then
      look(keys.turns_any(lane, classes[nth]))
    end
  end
  table.sort(found, sooner)
  return found
end

--- Adds to a key the queues that a claim reads, the class of each, and how many executions wait in them.
local function open_queues(lane, one, is_kind, is_class)
  one.of, one.class_of, one.left = {}, {}, 0
  local flat = call('HGETALL', keys.turn(lane, one.key))
  for nth = 1, #flat, 2 do
    local kind, class = flat[nth]:match('^(%S+) (.*)$')
    if kind and is_class[class] and (not is_kind or is_kind[kind]) then
      class = class ~= '' and class or nil
      one.of[#one.of + 1] = keys.queue_of_key(lane, kind, class, one.key)
      one.class_of[#one.of], one.left = class, one.left + tonumber(flat[nth + 1])
    end
  end
end

--- Returns the key served at each turn. Each key notes how many executions are taken of it.
local function serve(candidates, most)
  local order = {}
  while #order < most do
    local next_one
    for _, one in ipairs(candidates) do
      if one.left > 0 and (not next_one or sooner(one, next_one)) then
        next_one = one
      end
    end
    if not next_one then
      break
    end
    next_one.at, next_one.left, next_one.taken = next_one.at + next_one.step, next_one.left - 1, (next_one.taken or 0) + 1
    order[#order + 1] = next_one
  end
  return order
end

local function set_of(list)
  local set = {}
  for _, one in ipairs(list) do
    set[one] = true
  end
  return set
end

--- Returns the first executions of a fair lane in the order of turns, as ids and scores in turn, one more than may be taken. Also returns
--- class and key by id, for executions that have one.
function turns.first(lane_eligible, lane, configured, kinds, classes, max, moment)
  local ageing_ms, at, time = configured.ageing_ms, clock_of(lane)
  local plain, class_of = claim.first(lane_eligible, lane, kinds, classes, max, ageing_ms, moment)
  local candidates = { { key = '', at = math.max(at, time), left = #plain / 2, flat = plain, step = step_of(configured, '') } }
  local is_kind, is_class = kinds[1] and set_of(kinds), set_of(classes)
  is_class[''] = true
  for nth, one in ipairs(keys_in_turn(lane, kinds, classes, max + 1)) do
    if nth > max + 1 then
      break
    end
    one.step = step_of(configured, one.key)
    open_queues(lane, one, is_kind, is_class)
    candidates[#candidates + 1] = one
  end
  local flat, key_of = {}, {}
  for _, one in ipairs(serve(candidates, max + 1)) do
    if not one.flat then
      local by_id
      one.flat, by_id = claim.merge(one.of, one.class_of, one.taken - 1, ageing_ms, moment)
      for id, class in pairs(by_id) do
        class_of[id] = class
      end
    end
    one.nth = (one.nth or 0) + 1
    local id, score = one.flat[2 * one.nth - 1], one.flat[2 * one.nth]
    if id then
      flat[#flat + 1], flat[#flat + 2] = id, score
      key_of[id] = one.key ~= '' and one.key or nil
    end
  end
  return flat, class_of, key_of
end

--- Forgets keys without waiting work whose turn the clock has passed: their next turn begins at the clock anyway.
local function forget(lane, time)
  local list = keys.turns_idle(lane)
  for _, key in ipairs(call('ZRANGE', list, '-inf', text(time), 'BYSCORE', 'LIMIT', 0, limits.idle_turns)) do
    call('DEL', keys.turn(lane, key))
    call('ZREM', list, key)
  end
end

--- Moves a key to its next turn wherever it has waiting work.
local function move(lane, key, at)
  local hash = keys.turn(lane, key)
  for _, field in ipairs(call('HKEYS', hash)) do
    local kind, class = field:match('^(%S+) (.*)$')
    if kind then
      class = class ~= '' and class or nil
      call('ZADD', keys.turns(lane, kind, class), at, key)
      call('ZADD', keys.turns_any(lane, class), at, key)
    end
  end
  call('HSET', hash, 'at', at)
end

--- Charges these keys, in order, for executions being taken: advances the clock, and moves each key to its next turn. Returns how far the
--- clock advanced.
function turns.charge(lane, configured, served)
  if not served[1] then
    return 0
  end
  local plain_at, time = clock_of(lane)
  local began = time
  local next_at = {}
  for _, key in ipairs(served) do
    local step = step_of(configured, key)
    if key == '' then
      time = math.max(time, plain_at)
      plain_at = time + step
    else
      local at = next_at[key] or tonumber(call('HGET', keys.turn(lane, key), 'at'))
      time, next_at[key] = math.max(time, at), at + step
    end
  end
  for key, at in pairs(next_at) do
    move(lane, key, text(at))
  end
  local hash = keys.turn(lane, '')
  if time > 0 then
    call('HSET', hash, 'at', text(plain_at), 'clock', text(time))
  else
    call('HSET', hash, 'at', text(plain_at))
  end
  forget(lane, time)
  return time - began
end

return turns
