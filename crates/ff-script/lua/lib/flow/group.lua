--- The edges into one member, as a group: the kind of join, the counts, and the decision.

local group = {}

local NAMES = {
  'policy_variant', 'k', 'on_satisfied', 'n', 'succeeded', 'failed', 'skipped', 'group_state', 'satisfied_at', 'round',
  'cancel_siblings_pending', 'passes_payload',
}

--- The count that an edge belongs to, by its state.
local COUNTED = { satisfied = 'succeeded', failed = 'failed', skipped = 'skipped' }

--- Returns how many upstreams must succeed.
local function needs(one)
  return one.policy_variant == 'all_of' and one.n or one.k or 1
end

--- Returns true if a join needs more upstreams than it has.
function group.is_short(one)
  return needs(one) > one.n
end

function group.read(flow_id, id)
  local was = call('HMGET', keys.flow(flow_id, 'edgegroup:' .. id), unpack(NAMES))
  if not was[1] then
    return nil
  end
  local variant, k, on_satisfied, n, succeeded, failed, skipped, state, at, round, pending, payload = unpack(was)
  local one = {
    id = id,
    flow_id = flow_id,
    was = was,
    policy_variant = variant,
    k = tonumber(k or nil),
    on_satisfied = on_satisfied or nil,
    n = tonumber(n),
    succeeded = tonumber(succeeded or 0),
    failed = tonumber(failed or 0),
    skipped = tonumber(skipped or 0),
    group_state = state,
    satisfied_at = tonumber(at or nil),
    round = tonumber(round or 0),
    cancel_siblings_pending = pending or nil,
    passes_payload = payload or nil,
  }
  one.was_short = group.is_short(one)
  return one
end

--- Returns a group without edges. `join` says how they will join.
function group.new(flow_id, id, join)
  local one = { id = id, flow_id = flow_id, was = {}, was_short = false }
  group.join(one, join)
  group.empty(one, 0)
  return one
end

--- Sets how the edges join.
function group.join(one, join)
  one.policy_variant, one.k, one.on_satisfied = join.variant, join.k, join.on_satisfied
end

--- Returns true if the edges join in this way.
function group.joins(one, join)
  return one.policy_variant == join.variant and one.k == join.k and one.on_satisfied == join.on_satisfied
end

--- Resets the counts, so that only edges of the given round count.
function group.empty(one, round)
  one.n, one.succeeded, one.failed, one.skipped = 0, 0, 0, 0
  one.group_state, one.satisfied_at, one.round, one.passes_payload = 'pending', nil, round, nil
end

--- Begins a round, which joins by all of its edges unless the caller says otherwise.
function group.begin_round(one)
  group.join(one, { variant = 'all_of' })
  group.empty(one, one.round + 1)
end

--- Decides a join by its counts. It is impossible as soon as the remaining edges cannot satisfy it.
function group.evaluate(one, moment)
  local need, verdict = needs(one), 'pending'
  if one.succeeded >= need then
    verdict = 'satisfied'
  elseif one.n - (one.failed + one.skipped) < need then
    verdict = 'impossible'
  end
  if verdict ~= one.group_state then
    one.group_state, one.satisfied_at = verdict, verdict ~= 'pending' and moment or nil
  end
end

--- Counts an edge that moved from one state to another.
function group.recount(one, from, to)
  local left, entered = COUNTED[from], COUNTED[to]
  if left then
    one[left] = one[left] - 1
  end
  if entered then
    one[entered] = one[entered] + 1
  end
end

--- Returns the refusal of a join that needs more upstreams than it has.
function group.short_refusal(one, field)
  if group.is_short(one) then
    local detail = 'must need at most the ' .. text(one.n) .. ' upstreams there are, needs ' .. text(needs(one))
    return no.invalid_input('field', field, 'detail', detail)
  end
end

--- Counts a new edge.
function group.enter(one, edge)
  one.n, one.passes_payload = one.n + 1, edge.passes == 'payload' and '1' or one.passes_payload
end

--- Returns the stored form of a field: false for zero or nil, except that the number of edges is always stored.
local function kept(one, name)
  local value = one[name]
  if type(value) == 'number' then
    return (value > 0 or name == 'n') and text(value) or false
  end
  return value or false
end

function group.write(one)
  local set, gone
  for nth = 1, #NAMES do
    local name, was = NAMES[nth], one.was[nth] or false
    local value = kept(one, name)
    if value ~= was then
      set, gone = set or {}, gone or {}
      append(set, name, value)
      gone[#gone + 1] = not value and name or nil
    end
  end
  if not set then
    return
  end
  change_hash(keys.flow(one.flow_id, 'edgegroup:' .. one.id), set, gone)
  meta.count(one, needs(one), one.failed + one.skipped)
end

return group
