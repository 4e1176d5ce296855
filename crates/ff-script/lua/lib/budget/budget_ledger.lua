--- The usage ledger of a budget, stored at its home: the amounts used, reserved and spent by dimension, the draws of each execution, and
--- the waiters. Changes are collected and written together.

local budget_ledger = {}

local SUMS = { 'used', 'reserved', 'spent', 'folded' }
local PLACES = { 'first_waiter', 'next_waiter' }

local function pairs_of(key)
  local flat, fields = call('HGETALL', key), {}
  for nth = 1, #flat, 2 do
    fields[flat[nth]] = flat[nth + 1]
  end
  return fields
end

--- Parses amounts: dimension and amount in turn, separated by spaces.
function budget_ledger.amounts(kept)
  local amounts = {}
  for dimension, amount in (kept or ''):gmatch('(%S+) (%-?%d+)') do
    amounts[dimension] = tonumber(amount)
  end
  return amounts
end

local function sorted(amounts)
  local names = {}
  for name, amount in pairs(amounts) do
    if amount ~= 0 then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

function budget_ledger.written(amounts)
  local words = {}
  for _, name in ipairs(sorted(amounts)) do
    words[#words + 1] = name .. ' ' .. text(amounts[name])
  end
  return table.concat(words, ' ')
end

--- Reads a budget at its home. A budget without a name is deleted or was never defined.
function budget_ledger.open(definition)
  local fields, b = pairs_of(definition), { base = definition, draws = {}, changed = {}, hard = {}, soft = {}, estimates = {} }
  b.revision, b.name, b.on_hard_limit = tonumber(fields.revision or 0), fields.name, fields.on_hard_limit
  b.created_at, b.reset = tonumber(fields.created_at or nil), fields.reset
  for name, value in pairs(fields) do
    local kind = name:match('^estimate:(.*)$')
    if kind then
      b.estimates[kind] = budget_ledger.amounts(value)
    end
  end
  b.dimensions = {}
  for name, value in pairs(pairs_of(definition .. ':limits')) do
    local dimension, word = name:match('^(.*):(%a+)$')
    if not b.hard[dimension] and not b.soft[dimension] then
      b.dimensions[#b.dimensions + 1] = dimension
    end
    b[word][dimension] = tonumber(value)
  end
  table.sort(b.dimensions)
  b.kept = pairs_of(definition .. ':usage')
  for _, sum in ipairs(SUMS) do
    b[sum] = {}
  end
  b.crossings = {}
  for name, value in pairs(b.kept) do
    local dimension, word = name:match('^(.*):([%a_]+)$')
    if word == 'soft_by' then
      b.crossings[dimension] = value
    elseif word then
      b[word][dimension] = tonumber(value)
    end
  end
  for _, place in ipairs(PLACES) do
    b[place] = tonumber(b.kept[place] or 0)
  end
  b.period_from, b.period_until = tonumber(b.kept.period_from or 0), tonumber(b.kept.period_until or nil)
  return b
end

--- Returns true if the period of the budget is over. The caller must then send the current period.
function budget_ledger.is_over(b, moment)
  return b.name and b.period_until and moment >= b.period_until
end

--- Returns the answer that asks the caller for the current period.
function budget_ledger.over(b)
  return 'over ' .. text(b.created_at) .. ' ' .. b.reset
end

--- Begins a period. If it is later than the current one, usage starts at zero.
function budget_ledger.begin(b, from, until_ms)
  if b.period_from < from then
    budget_ledger.clear(b)
  end
  b.period_from, b.period_until = from, until_ms
end

function budget_ledger.clear(b)
  b.used, b.crossings = {}, {}
end

function budget_ledger.load(b, ids)
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    for nth, kept in ipairs(call('HMGET', b.base .. ':executions', unpack(ids, first, last))) do
      local id = ids[first + nth - 1]
      b.draws[id] = b.draws[id] or budget_ledger.read_draw(kept)
    end
  end
end

--- Parses the entry of an execution: kind; slot (a reservation or a place in the queue, if any); number and time of the last counted
--- report; reserved amounts; the last total seen.
function budget_ledger.read_draw(kept)
  local kind, slot, counted, reserved, seen = (kept or ''):match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  local draw = { kind = kind, reserved = budget_ledger.amounts(reserved), seen = budget_ledger.amounts(seen) }
  local word, epoch, at, place, claim_id = (slot or ''):match('^(%a+) (%d+) (%d+) (%d*) (%S*)$')
  if word then
    local owner = claim_id ~= '' and claim_id or nil
    draw.slot = { word = word, epoch = tonumber(epoch), at = at, place = tonumber(place), claim_id = owner }
  end
  local seq, counted_at = (counted or ''):match('^(%d+) (%d+)$')
  draw.seq, draw.at = tonumber(seq or 0), tonumber(counted_at or 0)
  return draw
end

function budget_ledger.draw(b, id)
  if not b.draws[id] then
    budget_ledger.load(b, { id })
  end
  return b.draws[id]
end

function budget_ledger.put(b, id, kind)
  b.draws[id].kind, b.changed[id] = kind, true
end

function budget_ledger.estimate(b, kind)
  return b.estimates[kind] or b.estimates['*'] or {}
end

--- Returns the first dimension without room for a need, the amount taken of it, and its limit.
function budget_ledger.lacks(b, need)
  for _, dimension in ipairs(b.dimensions) do
    local hard, taken = b.hard[dimension], (b.used[dimension] or 0) + (b.reserved[dimension] or 0)
    if hard and taken + math.max(need[dimension] or 0, 1) > hard then
      return dimension, taken, hard
    end
  end
end

function budget_ledger.add(sums, dimension, more)
  sums[dimension] = math.min((sums[dimension] or 0) + more, limits.amount_max)
end

function budget_ledger.take(sums, dimension, less)
  sums[dimension] = math.max((sums[dimension] or 0) - less, 0)
end

function budget_ledger.hold(b, id, kind, epoch, moment, claim_id)
  local draw = b.draws[id]
  draw.reserved = {}
  for dimension, amount in pairs(budget_ledger.estimate(b, kind)) do
    budget_ledger.add(b.reserved, dimension, amount)
    draw.reserved[dimension] = amount
  end
  draw.slot = { word = 'held', epoch = epoch, at = text(moment), claim_id = claim_id }
  budget_ledger.put(b, id, kind)
end

local function waiters(b)
  return b.base .. ':waiters'
end

function budget_ledger.enqueue(b, id, kind, epoch, place, moment)
  if not place then
    place, b.next_waiter = b.next_waiter, b.next_waiter + 1
  end
  call('HSET', waiters(b), text(place), id .. ' ' .. text(epoch) .. ' ' .. kind)
  b.draws[id].slot = { word = 'waiting', epoch = epoch, at = text(moment), place = place }
  budget_ledger.put(b, id, kind)
end

--- Releases the reservation of an execution, or its place in the queue.
function budget_ledger.give_up(b, id)
  local draw = b.draws[id]
  if draw.slot and draw.slot.word == 'waiting' then
    call('HDEL', waiters(b), text(draw.slot.place))
  end
  for dimension, amount in pairs(draw.reserved) do
    budget_ledger.take(b.reserved, dimension, amount)
  end
  draw.slot, draw.reserved = nil, {}
end

--- Returns the first waiters, as far as one call looks: place, id, epoch and kind of each.
function budget_ledger.line(b)
  local last, names, line = math.min(b.next_waiter, b.first_waiter + limits.quota_step), {}, {}
  for place = b.first_waiter, last - 1 do
    names[#names + 1] = text(place)
  end
  if not names[1] then
    return line
  end
  for nth, kept in ipairs(call('HMGET', waiters(b), unpack(names))) do
    local id, epoch, kind = (kept or ''):match('^(%S+) (%d+) (%S+)$')
    if id then
      line[#line + 1] = { place = b.first_waiter + nth - 1, id = id, epoch = tonumber(epoch), kind = kind }
    end
  end
  return line
end

--- Moves the start of the queue past empty places.
function budget_ledger.trim_queue(b)
  local last = math.min(b.next_waiter, b.first_waiter + limits.quota_step)
  while b.first_waiter < last and call('HEXISTS', waiters(b), text(b.first_waiter)) == 0 do
    b.first_waiter = b.first_waiter + 1
  end
end

local function draws(b)
  return b.base .. ':draws'
end

function budget_ledger.log_draw(b, id, moment)
  call('RPUSH', draws(b), text(moment) .. ' ' .. id)
end

--- Forgets the oldest draws that got no report for as long as a report may be repeated, a bounded number per call.
function budget_ledger.forget_draws(b, moment)
  for _ = 1, limits.budget_draws_forgotten do
    local at, id = (call('LINDEX', draws(b), 0) or ''):match('^(%d+) (%S+)$')
    if not at or at + limits.usage_remembered_ms > moment then
      return
    end
    call('LPOP', draws(b))
    local draw = budget_ledger.draw(b, id)
    if draw.slot or draw.at + limits.usage_remembered_ms > moment then
      budget_ledger.log_draw(b, id, moment)
    else
      for dimension, amount in pairs(draw.seen) do
        b.folded[dimension] = (b.folded[dimension] or 0) + amount
      end
      draw.seq, draw.seen = 0, {}
      budget_ledger.put(b, id, draw.kind)
    end
  end
end

local function write_draws(b)
  local set, gone = {}, {}
  for id in pairs(b.changed) do
    local draw, slot = b.draws[id], ''
    if draw.slot then
      local place = draw.slot.place and text(draw.slot.place) or ''
      slot = table.concat({ draw.slot.word, text(draw.slot.epoch), draw.slot.at, place, draw.slot.claim_id or '' }, ' ')
    end
    if not draw.slot and draw.seq == 0 then
      gone[#gone + 1] = id
    else
      local counted = draw.seq > 0 and text(draw.seq) .. ' ' .. text(draw.at) or ''
      set[#set + 1], set[#set + 2] = id, table.concat({
        draw.kind, slot, counted, budget_ledger.written(draw.reserved), budget_ledger.written(draw.seen),
      }, '|')
    end
  end
  change_hash(b.base .. ':executions', set, gone)
end

--- Writes all changes.
function budget_ledger.write(b)
  write_draws(b)
  local fields, set, gone = {}, {}, {}
  for _, sum in ipairs(SUMS) do
    for dimension, amount in pairs(b[sum]) do
      fields[dimension .. ':' .. sum] = amount ~= 0 and text(amount) or nil
    end
  end
  for dimension, by in pairs(b.crossings) do
    fields[dimension .. ':soft_by'] = by
  end
  for _, place in ipairs(PLACES) do
    fields[place] = b[place] > 0 and text(b[place]) or nil
  end
  fields.period_from, fields.period_until = text(b.period_from), b.period_until and text(b.period_until)
  for name, value in pairs(fields) do
    if b.kept[name] ~= value then
      set[#set + 1], set[#set + 2] = name, value
    end
  end
  for name in pairs(b.kept) do
    if not fields[name] then
      gone[#gone + 1] = name
    end
  end
  change_hash(b.base .. ':usage', set, gone)
end

return budget_ledger
