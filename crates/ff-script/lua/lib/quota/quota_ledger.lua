--- The usage ledger of a quota policy, stored at its home: for each value of its key the admissions in the window, the slots, and the
--- waiters. Changes are collected and written together.

local quota_ledger = {}

local FIELDS = { 'first', 'next', 'in_window', 'promised', 'slots', 'first_waiter', 'next_waiter' }

--- Reads a policy at its home. A policy without a name is deleted or was never defined.
function quota_ledger.open(definition)
  local revision, name, limit, window_ms, most = unpack(call(
    'HMGET', definition, 'revision', 'name', 'rate_limit', 'window_ms', 'max_concurrent'
  ))
  return {
    base = definition,
    revision = tonumber(revision or 0),
    name = name or nil,
    limit = tonumber(limit or nil),
    window_ms = tonumber(window_ms or nil),
    most = tonumber(most or nil),
    uses = {},
    slots = {},
    held = 0,
  }
end

--- Returns the key of a slot.
local function slot_key(q, key, id)
  return q.base .. ':admitted:' .. id .. (key == '' and '' or ':' .. key)
end

local function window(q, key)
  return q.base .. ':window:' .. key
end

local function waiters(q, key)
  return q.base .. ':waiters:' .. key
end

--- Returns a number as the member of a window, padded so that members sort as numbers do.
local function member(seq)
  return string.format('%016.0f', seq)
end

local function read_use(kept)
  local usage, at = {}, 0
  for number in (kept or ''):gmatch('%d+') do
    at = at + 1
    usage[FIELDS[at]] = tonumber(number)
  end
  for _, field in ipairs(FIELDS) do
    usage[field] = usage[field] or 0
  end
  return usage
end

local function read_slot(kept)
  local word, epoch, at, number, claim_id = (kept or ''):match('^(%a+) (%d+) (%d+) (%d*) (%S*)$')
  if not word then
    return false
  end
  local owner = claim_id ~= '' and claim_id or nil
  return { word = word, epoch = tonumber(epoch), at = at, number = tonumber(number), claim_id = owner }
end

--- Reads the usage under some keys, and the slots of some executions, given as keys and ids in turn.
function quota_ledger.load(q, wanted, keys_of_use)
  local names, of = {}, {}
  for nth = 1, #wanted, 2 do
    local name = slot_key(q, wanted[nth], wanted[nth + 1])
    if not of[name] then
      of[name], names[#names + 1] = true, name
    end
  end
  for first = 1, #names, 1000 do
    local last = math.min(first + 999, #names)
    for nth, kept in ipairs(call('MGET', unpack(names, first, last))) do
      q.slots[names[first + nth - 1]] = read_slot(kept)
    end
  end
  for first = 1, #keys_of_use, 1000 do
    local last = math.min(first + 999, #keys_of_use)
    for nth, kept in ipairs(call('HMGET', q.base .. ':use', unpack(keys_of_use, first, last))) do
      q.uses[keys_of_use[first + nth - 1]] = read_use(kept)
    end
  end
end

--- Resets a key of which nothing is used.
function quota_ledger.tidy(q, key)
  local usage = q.uses[key]
  if usage.in_window == 0 and usage.slots == 0 and usage.next_waiter == usage.first_waiter then
    q.uses[key] = read_use()
  end
end

--- Drops admissions that have left the window, a bounded number. An admission that is not dropped yet still counts.
function quota_ledger.trim(q, key, usage, moment)
  local last = math.min(usage.next, usage.first + limits.quota_step)
  if usage.first >= last then
    return
  end
  local flat, at, gone = call('ZRANGE', window(q, key), 0, limits.quota_step - 1, 'WITHSCORES'), {}, {}
  for nth = 1, #flat, 2 do
    at[tonumber(flat[nth])] = tonumber(flat[nth + 1])
  end
  while usage.first < last do
    local admitted_at = at[usage.first]
    if admitted_at and admitted_at + (q.window_ms or 0) > moment then
      break
    elseif admitted_at then
      gone[#gone + 1] = member(usage.first)
      usage.in_window, usage.promised = usage.in_window - 1, math.max(0, usage.promised - 1)
    end
    usage.first = usage.first + 1
  end
  if gone[1] then
    call('ZREM', window(q, key), unpack(gone))
  end
end

--- Writes a slot or a place in the queue, and caches it for the rest of the call. Held slots are also members of a set, for readers that
--- walk over them.
local function put_slot(q, key, id, slot)
  local name = slot_key(q, key, id)
  q.slots[name] = slot
  q.put = q.put or {}
  q.put[name] = slot and table.concat({
    slot.word, text(slot.epoch), slot.at, slot.number and text(slot.number) or '', slot.claim_id or '',
  }, ' ')
  q.walked = q.walked or {}
  q.walked[id .. ' ' .. key] = slot and slot.word == 'held'
end

function quota_ledger.slot(q, key, id)
  return q.slots[slot_key(q, key, id)]
end

--- Counts an admission in the window if there is a rate, and returns its number.
local function count(q, key, usage, moment)
  if not q.limit then
    return nil
  end
  local seq = usage.next
  call('ZADD', window(q, key), text(moment), member(seq))
  usage.next, usage.in_window = usage.next + 1, usage.in_window + 1
  return seq
end

--- Gives an execution a slot, and counts its admission if there is a rate.
function quota_ledger.hold(q, key, usage, id, epoch, moment, claim_id)
  local seq = count(q, key, usage, moment)
  usage.slots, q.held = usage.slots + 1, q.held + 1
  put_slot(q, key, id, { word = 'held', epoch = epoch, at = text(moment), number = seq, claim_id = claim_id })
end

--- Adds an execution to the queue for a slot, at its place if it has one.
local function enqueue(q, key, usage, id, epoch, place, moment)
  if not place then
    place, usage.next_waiter = usage.next_waiter, usage.next_waiter + 1
  end
  call('HSET', waiters(q, key), text(place), id .. ' ' .. text(epoch))
  put_slot(q, key, id, { word = 'waiting', epoch = epoch, at = text(moment), number = place })
end

--- Takes its slot or place from an execution. If a slot was not used, its admission is taken back too.
function quota_ledger.release(q, key, usage, id, slot, is_unused)
  if slot.word == 'waiting' then
    call('HDEL', waiters(q, key), text(slot.number))
  else
    usage.slots, q.held = usage.slots - 1, q.held - 1
    if is_unused and slot.number and call('ZREM', window(q, key), member(slot.number)) == 1 then
      usage.in_window = usage.in_window - 1
    end
  end
  put_slot(q, key, id, false)
end

--- Returns when a full window has room for one more, after the times promised before. The counted admissions leave it one by one, and each
--- makes room for one.
local function promise(q, key, usage)
  local count, nth = math.max(1, usage.next - usage.first), usage.promised
  usage.promised = nth + 1
  local leaves = call('ZSCORE', window(q, key), member(usage.first + nth % count))
    or call('ZSCORE', window(q, key), member(usage.first))
  return tonumber(leaves or 0) + q.window_ms * (1 + math.floor(nth / count))
end

--- Decides whether an execution may be claimed. Returns nil if it may, and `reserved_for_other` if it is reserved for another claim. Otherwise
--- returns the usage, the limit, and when to come back if it does not wait for a slot.
function quota_ledger.evaluate(q, key, id, epoch, moment, claim_id)
  local usage, slot, place = q.uses[key], quota_ledger.slot(q, key, id), nil
  local most = q.most or 4294967295
  local has_slot = slot and slot.epoch == epoch and slot.word == 'held'
  if has_slot and q.limit and claim_id and not slot.claim_id then
    -- No claim has used this slot yet, so its admission counts from the claim that comes now.
    quota_ledger.release(q, key, usage, id, slot, true)
  elseif has_slot then
    local number = slot.number
    if slot.claim_id and slot.claim_id ~= claim_id then
      if moment < tonumber(slot.at) + limits.quota_reserved_ms then
        return 'reserved_for_other'
      elseif q.limit and usage.in_window >= q.limit then
        return usage.in_window, q.limit, promise(q, key, usage)
      end
      -- The claim it was reserved for may have used its admission, so that one stays. Another claim is one more.
      number = count(q, key, usage, moment) or number
    end
    put_slot(q, key, id, { word = 'held', epoch = epoch, at = text(moment), number = number, claim_id = claim_id })
    return nil
  elseif slot and slot.epoch > epoch or not slot and not claim_id then
    return 'reserved_for_other'
  elseif slot and slot.word == 'held' then
    quota_ledger.release(q, key, usage, id, slot, false)
  elseif slot then
    place = slot.number
  end
  if usage.slots >= most then
    enqueue(q, key, usage, id, epoch, place, moment)
    return usage.slots, most, nil
  end
  if place then
    quota_ledger.release(q, key, usage, id, slot, false)
  end
  if q.limit and usage.in_window >= q.limit then
    return usage.in_window, q.limit, promise(q, key, usage)
  end
  quota_ledger.hold(q, key, usage, id, epoch, moment, claim_id)
end

--- Gives free slots to waiters in the order they came, and adds them to a list. If the window is full, as many waiters are listed without a
--- slot, so that they are told when it has room.
function quota_ledger.wake(q, key, usage, moment, woken)
  local free, looks = limits.quota_step, limits.quota_step
  if q.name and q.most then
    free = math.min(math.max(0, q.most - usage.slots), free)
  end
  while free > 0 and looks > 0 and usage.first_waiter < usage.next_waiter do
    local place = text(usage.first_waiter)
    local id, epoch = (call('HGET', waiters(q, key), place) or ''):match('^(%S+) (%d+)$')
    usage.first_waiter, looks = usage.first_waiter + 1, looks - 1
    if id then
      call('HDEL', waiters(q, key), place)
      put_slot(q, key, id, false)
      free = free - 1
      if q.name and not (q.limit and usage.in_window >= q.limit) then
        quota_ledger.hold(q, key, usage, id, tonumber(epoch), moment)
      end
      woken[#woken + 1], woken[#woken + 2], woken[#woken + 3] = key, id, epoch
    end
  end
end

local function write_uses(q)
  local set, gone = {}, {}
  for key, usage in pairs(q.uses) do
    if usage.in_window == 0 and usage.slots == 0 and usage.next_waiter == usage.first_waiter then
      gone[#gone + 1] = key
    else
      local numbers = {}
      for nth, field in ipairs(FIELDS) do
        numbers[nth] = text(usage[field])
      end
      set[#set + 1], set[#set + 2] = key, table.concat(numbers, ' ')
    end
  end
  change_hash(q.base .. ':use', set, gone)
end

--- Writes all changes.
function quota_ledger.write(q)
  local set, gone, walked, left = {}, {}, {}, {}
  for name, kept in pairs(q.put or {}) do
    if kept then
      set[#set + 1], set[#set + 2] = name, kept
    else
      gone[#gone + 1] = name
    end
  end
  for one, is_held in pairs(q.walked or {}) do
    if is_held then
      walked[#walked + 1] = one
    else
      left[#left + 1] = one
    end
  end
  for _, write in ipairs({ { 'MSET', set }, { 'DEL', gone } }) do
    for first = 1, #write[2], 1000 do
      call(write[1], unpack(write[2], first, math.min(first + 999, #write[2])))
    end
  end
  local set_key = q.base .. ':admitted_set'
  if walked[1] then
    call('SADD', set_key, unpack(walked))
  end
  if left[1] then
    call('SREM', set_key, unpack(left))
  end
  if q.held ~= 0 then
    call('INCRBY', q.base .. ':concurrency', q.held)
  end
  write_uses(q)
end

return quota_ledger
