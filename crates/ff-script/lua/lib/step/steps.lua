--- Recorded steps of an execution, in three hashes: heads by number (the bytes it counts as, a space and JSON), results by number, and
--- numbers by the identity of a step. From the first step on, the record has a counter: the next number, how many steps and how many
--- compensations there are, and their total bytes.

local steps = {}

local HASHES = { 'steps', 'step_results', 'step_index' }

--- Number of heads read, or of fields written or deleted, per command.
local AT_ONCE = 100

function steps.identity(kind, name, key)
  return kind .. ':' .. name .. '\n' .. key
end

--- Returns the counter of a record, at zero if nothing was counted.
function steps.counter(counted)
  local following, count, undos, bytes = (counted or '0 0 0 0'):match('^(%d+) (%d+) (%d+) (%d+)$')
  return { next = tonumber(following), count = tonumber(count), undos = tonumber(undos), bytes = tonumber(bytes) }
end

--- Returns a counter as the record stores it.
function steps.counted(counter)
  return table.concat({ text(counter.next), text(counter.count), text(counter.undos), text(counter.bytes) }, ' ')
end

function steps.count(counter, seq, kind, bytes)
  local which = kind == 'undo' and 'undos' or 'count'
  counter.next, counter[which], counter.bytes = seq + 1, counter[which] + 1, counter.bytes + bytes
end

--- Returns the bytes of steps that come with a claim.
function steps.claim_bytes(counted)
  return math.min(steps.counter(counted).bytes, limits.claim_step_bytes)
end

--- Visits the heads of an execution from a number on, in order, until a visit returns true.
local function each(id, from, counter, visit)
  for first = from, counter.next - 1, AT_ONCE do
    local names = {}
    for seq = first, math.min(first + AT_ONCE, counter.next) - 1 do
      names[#names + 1] = text(seq)
    end
    for nth, head in ipairs(call('HMGET', keys.of(id, 'steps'), unpack(names))) do
      if head and visit(names[nth], head) then
        return
      end
    end
  end
end

--- Returns the steps after a number: at most `limit`, and at most `room` bytes, but at least one if there is one. The first item is the
--- number of the last step if more follow, then come head and result of each in turn.
function steps.page(id, counter, after, limit, room)
  local page, seqs, sum = { '' }, {}, 0
  each(id, after and after + 1 or 0, counter, function(seq, head)
    sum = sum + tonumber(head:match('^%d+'))
    if seqs[1] and (#seqs == limit or sum > room) then
      page[1] = seqs[#seqs]
      return true
    end
    seqs[#seqs + 1] = seq
    page[2 * #seqs] = head
  end)
  for first = 1, #seqs, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #seqs)
    for nth, result in ipairs(call('HMGET', keys.of(id, 'step_results'), unpack(seqs, first, last))) do
      page[2 * (first + nth - 1) + 1] = result
    end
  end
  return page
end

--- Returns the records of all steps without their results, in order.
function steps.heads(id, counted)
  local heads = {}
  if counted then
    each(id, 0, steps.counter(counted), function(seq, packed)
      local bytes, json = packed:match('^(%d+) (.*)$')
      local head = cjson.decode(json)
      head.key = head.key or ''
      head.bytes, head.packed, head.name_of = tonumber(bytes), packed, seq
      heads[#heads + 1] = head
    end)
  end
  return heads
end

--- Returns the steps and waits that were not undone.
function steps.not_undone(heads)
  local undone, not_undone = {}, {}
  for _, head in ipairs(heads) do
    if head.kind == 'undo' then
      undone[head.name .. '\n' .. head.key] = true
    end
  end
  for _, head in ipairs(heads) do
    if head.kind ~= 'undo' and not undone[head.name .. '\n' .. head.key] then
      not_undone[#not_undone + 1] = head
    end
  end
  return not_undone
end

--- Returns the number of the first step or wait of a name and a key; otherwise nil and the refusal.
function steps.point(heads, field, name, key)
  for _, head in ipairs(heads) do
    if head.kind ~= 'undo' and head.name == name and head.key == key then
      return head.seq
    end
  end
  local with_key = key ~= '' and ' and key "' .. key .. '"' or ''
  local detail = 'no step of the name "' .. name .. '"' .. with_key .. ' is recorded'
  return nil, no.invalid_input('field', field, 'detail', detail)
end

--- Returns the steps that a replay of a finished execution begins with, nil if there are none, and the refusal, if any.
function steps.kept(e, from_name, from_key)
  local counted = e.core.steps
  if not from_name and (not counted or e.core.terminal_outcome == 'success') then
    return nil
  end
  local heads, from, refusal = steps.heads(e.id, counted), nil, nil
  if from_name then
    from, refusal = steps.point(heads, 'from_step', from_name, from_key)
    if refusal then
      return nil, refusal
    end
  end
  local kept = {}
  for _, head in ipairs(steps.not_undone(heads)) do
    if from and head.seq < from or not from and head.outcome.succeeded then
      kept[#kept + 1] = head
    end
  end
  return kept[1] and kept
end

local function delete(key, names)
  for first = 1, #names, AT_ONCE do
    call('HDEL', key, unpack(names, first, math.min(first + AT_ONCE - 1, #names)))
  end
end

--- Forgets every step of an execution but the kept ones.
function steps.keep(e, kept)
  if not kept then
    local gone = {}
    steps.add_keys(gone, e.id)
    call('UNLINK', unpack(gone))
    return record.drop(e, 'steps')
  end
  local counter, stays, seqs, identities = steps.counter(), {}, {}, {}
  for _, head in ipairs(kept) do
    steps.count(counter, head.seq, head.kind, head.bytes)
    stays[head.seq] = true
  end
  for _, head in ipairs(steps.heads(e.id, e.core.steps)) do
    if not stays[head.seq] then
      seqs[#seqs + 1] = head.name_of
      identities[#identities + 1] = steps.identity(head.kind, head.name, head.key)
    end
  end
  delete(keys.of(e.id, 'steps'), seqs)
  delete(keys.of(e.id, 'step_results'), seqs)
  delete(keys.of(e.id, 'step_index'), identities)
  record.put(e, 'steps', steps.counted(counter))
end

--- Copies the steps of an execution to another one that has none.
function steps.copy(from, to, heads)
  for first = 1, #heads, AT_ONCE do
    local seqs, packed, results, identities = {}, {}, {}, {}
    for nth = first, math.min(first + AT_ONCE - 1, #heads) do
      local head = heads[nth]
      seqs[#seqs + 1] = head.name_of
      append(packed, head.name_of, head.packed)
      append(identities, steps.identity(head.kind, head.name, head.key), head.name_of)
    end
    for nth, result in ipairs(call('HMGET', keys.of(from, 'step_results'), unpack(seqs))) do
      append(results, seqs[nth], result)
    end
    call('HSET', keys.of(to, 'steps'), unpack(packed))
    call('HSET', keys.of(to, 'step_results'), unpack(results))
    call('HSET', keys.of(to, 'step_index'), unpack(identities))
  end
end

--- Adds the keys of an execution's steps to a list.
function steps.add_keys(list, id)
  for _, what in ipairs(HASHES) do
    list[#list + 1] = keys.of(id, what)
  end
end

return steps
