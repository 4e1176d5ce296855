--- The dependencies of a member: its flow and the graph's revision, how many upstreams its join needs and how many are satisfied or
--- impossible, its inputs, and the pending siblings of its join.

local meta = {}

local NAMES = { 'inputs', 'input_bytes', 'injected_bytes', 'siblings_since', 'siblings_after', 'siblings_within' }

function meta.read(id)
  local fields = record.hash(keys.of(id, 'deps:meta')) or {}
  fields.before = {}
  for _, name in ipairs(NAMES) do
    fields.before[name] = fields[name]
  end
  return fields
end

--- Returns the beginning of a stored input: its name and its edge. The upstream, the number of bytes, and the type if it is not JSON
--- follow. Inputs are ordered by name.
local function input_name(one)
  return one.input_name .. ' ' .. one.id .. ' '
end

local function input(one, upstream, bytes)
  local kind = upstream.core.result_type
  return input_name(one) .. keys.uuid(upstream.id) .. ' ' .. text(bytes) .. (kind and ' ' .. kind or '')
end

--- Passes on the result of an edge's upstream, if it has one: as a named input beside the payload, or in place of the payload.
function meta.pass(one, upstream)
  local bytes = upstream.core.result_bytes
  if not one.passes or not bytes then
    return
  end
  local known = step.meta(one.downstream)
  if one.passes == 'input' then
    known.inputs, known.input_bytes = (known.inputs or 0) + 1, (known.input_bytes or 0) + bytes
    known.given = known.given or {}
    append(known.given, 0, input(one, upstream, bytes))
  else
    local child = record.find(one.downstream)
    known.injected_bytes, known.injected = bytes, upstream.id
    record.drop(child, 'content_type')
    record.put_if_given(child, 'content_type', upstream.core.result_type)
    step.touch(child)
  end
  one.passed_bytes = bytes
end

--- Takes back an input that was passed on. An injected payload stays.
function meta.withdraw(one)
  if one.passed_bytes and one.passes == 'input' then
    local known = step.meta(one.downstream)
    known.inputs, known.input_bytes = (known.inputs or 0) - 1, (known.input_bytes or 0) - one.passed_bytes
    known.taken = known.taken or {}
    known.taken[#known.taken + 1] = input_name(one)
  end
  one.passed_bytes = nil
end

local function write_fields(id, known)
  local set, gone = {}, {}
  for _, name in ipairs(NAMES) do
    local value = known[name]
    value = value ~= 0 and value or name == 'injected_bytes' and value or nil
    if value ~= known.before[name] then
      append(set, name, value)
      gone[#gone + 1] = value == nil and name or nil
    end
  end
  change_hash(keys.of(id, 'deps:meta'), set, gone)
end

--- Stores the counts of a member's join for other programs. The join has its own, by which it is decided.
function meta.count(joined, required, impossible)
  local flow = step.flow(joined.flow_id)
  call(
    'HSET', keys.of(joined.id, 'deps:meta'), 'flow_id', joined.flow_id, 'graph_revision', flow.core.graph_revision,
    'required', required, 'satisfied', joined.succeeded, 'impossible', impossible
  )
end

local function write_inputs(id, known)
  for _, name in ipairs(known.taken or {}) do
    call('ZREMRANGEBYLEX', keys.of(id, 'deps:inputs'), '[' .. name, '(' .. name .. '~')
  end
  if known.given then
    call('ZADD', keys.of(id, 'deps:inputs'), unpack(known.given))
  end
  if known.injected then
    call('COPY', keys.of(known.injected, 'result'), keys.of(id, 'payload'), 'REPLACE')
  end
end

--- Returns the inputs of a member after a place, ordered by name: name, upstream, type if it is not JSON, and bytes. The bytes are missing
--- if they do not fit any more, or if the upstream runs again. Also returns the place of the last input if more may follow, and the number
--- of bytes left.
function meta.inputs(id, after, left)
  local most, from = limits.inputs_at_once, after and '(' .. after or '-'
  local kept = call('ZRANGE', keys.of(id, 'deps:inputs'), from, '+', 'BYLEX', 'LIMIT', 0, most)
  local inputs, names, at = {}, {}, {}
  for nth, entry in ipairs(kept) do
    local name, upstream, bytes, kind = entry:match('^(%S+) %S+ (%S+) (%d+) ?(.*)$')
    inputs[nth] = { name, keys.execution(upstream), kind, false }
    if tonumber(bytes) <= left then
      left = left - tonumber(bytes)
      names[#names + 1], at[#at + 1] = keys.of(inputs[nth][2], 'result'), nth
    end
  end
  for nth, bytes in ipairs(names[1] and call('MGET', unpack(names)) or {}) do
    inputs[at[nth]][4] = bytes
  end
  return inputs, #kept == most and kept[most] or '', text(left)
end

--- Updates the indexes of pending siblings. A staged member is never due.
local function write_owed(id, since, before)
  local e = record.find(id)
  if since and not before then
    flow_index.pend_group(e.core.flow_id, id)
  elseif before and not since then
    flow_index.unpend_group(e.core.flow_id, id)
  end
  local due = e.core.blocked_on ~= 'staging' and since or nil
  local was_due = e.place ~= 'staged' and before or nil
  if due and due ~= was_due then
    flow_index.owe('sibling_backlog', due, id)
  elseif was_due and not due then
    flow_index.unowe('sibling_backlog', id)
  end
end

function meta.write(id, known)
  write_fields(id, known)
  write_inputs(id, known)
  local since, before = known.siblings_since, known.before.siblings_since
  if since or before then
    write_owed(id, since, before)
  end
end

return meta
