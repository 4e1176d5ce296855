--- The signals counted towards a condition, leaf by leaf. They are stored as fields of a hash: `n<leaf>` is the count of a leaf, and
--- `<leaf>|<identity>` the position, id and size of a counted signal. Leaf 0 has the signals that did not count, if the worker wants all of
--- them.

local tally = {}

local NOT_IN_CONDITION, MATCHER_FAILED, RECOUNTED, COUNTED = 1, 2, 3, 4

local EFFECTS = {
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  'appended_to_waitpoint_duplicate',
  'appended_to_waitpoint',
}

--- Returns the identity by which a leaf distinguishes signals.
local function counts_as(leaf, signal)
  if leaf.of == 'waitpoints' then
    return signal.waitpoint_key
  elseif leaf.of == 'sources' then
    return signal.source_identity and signal.source_type .. ':' .. signal.source_identity or signal.source_type
  end
  return signal.id
end

local function count_of(counted, nth)
  return tonumber(counted['n' .. nth] or 0)
end

--- Adds a signal to the count of a leaf, and notes the changed fields.
local function add(counted, changed, nth, as, signal)
  local count = text(count_of(counted, nth) + 1)
  local names = { 'n' .. nth, nth .. '|' .. as }
  local values = { count, count .. ' ' .. signal.id .. ' ' .. text(signal.bytes) }
  for at = 1, 2 do
    counted[names[at]] = values[at]
    append(changed, names[at], values[at])
  end
end

local function names_waitpoint(leaf, key)
  if not leaf.waitpoints then
    return leaf.waitpoint == key
  end
  for _, named in ipairs(leaf.waitpoints) do
    if named == key then
      return true
    end
  end
  return false
end

local function weigh_leaf(counted, changed, nth, leaf, signal)
  if leaf.name and leaf.name ~= signal.name then
    return MATCHER_FAILED
  end
  local as = counts_as(leaf, signal)
  if counted[nth .. '|' .. as] or count_of(counted, nth) >= condition.needs(leaf) then
    return RECOUNTED
  end
  add(counted, changed, nth, as, signal)
  return COUNTED
end

--- Returns the leaves that name a waitpoint, each with its number.
function tally.concerned(leaves, key)
  local concerned = {}
  for nth, leaf in ipairs(leaves) do
    concerned[#concerned + 1] = names_waitpoint(leaf, key) and { nth = nth, leaf = leaf } or nil
  end
  return concerned
end

--- Counts a signal in each leaf that can use it; only leaves that name its waitpoint can. Returns the effect, and whether it counted. With
--- `all`, a signal that did not count is noted as well.
function tally.weigh(counted, changed, concerned, all, signal)
  local weight = NOT_IN_CONDITION
  for _, one in ipairs(concerned) do
    weight = math.max(weight, weigh_leaf(counted, changed, one.nth, one.leaf, signal))
  end
  if all and weight < COUNTED and count_of(counted, 0) < limits.condition_signals then
    add(counted, changed, 0, signal.id, signal)
  end
  return EFFECTS[weight], weight == COUNTED
end

--- Returns true if a leaf that names a waitpoint could still count one of its signals.
function tally.wants(counted, concerned)
  for _, one in ipairs(concerned) do
    if count_of(counted, one.nth) < condition.needs(one.leaf) then
      return true
    end
  end
  return false
end

--- Reads the fields of a tally that are needed to evaluate one signal.
function tally.around(key, tree, signal)
  local names, counted = { 'n0' }, {}
  for nth, leaf in ipairs(condition.leaves(tree)) do
    names[2 * nth] = 'n' .. nth
    names[2 * nth + 1] = nth .. '|' .. counts_as(leaf, signal)
  end
  for nth, value in ipairs(call('HMGET', key, unpack(names))) do
    counted[names[nth]] = value or nil
  end
  return counted
end

function tally.meets(counted, tree)
  local function enough(nth, leaf)
    return count_of(counted, nth) >= condition.needs(leaf) and {} or nil
  end
  return condition.met(tree, enough) ~= nil
end

--- Returns the signals each leaf has counted, in order.
local function lists_of(counted)
  local lists = {}
  for name, value in pairs(counted) do
    local leaf = name:match('^(%d+)|')
    local nth, id, bytes = value:match('^(%d+) (%S+) (%d+)$')
    if leaf then
      local list = lists[tonumber(leaf)] or {}
      lists[tonumber(leaf)], list[tonumber(nth)] = list, { id = id, bytes = tonumber(bytes) }
    end
  end
  return lists
end

--- Returns the signals for the worker if the suspension ended now: the signals that met the condition, or all signals counted so far if it
--- is not met. With `all`, every signal that arrived, starting with the ones that met it.
function tally.resumption_signals(counted, tree, all)
  local lists, signals, known = lists_of(counted), {}, {}
  local function hand(list)
    for _, one in ipairs(list) do
      if not known[one.id] then
        signals[#signals + 1], known[one.id] = one, true
      end
    end
  end
  local met = condition.met(tree, function(nth, leaf)
    local list = lists[nth] or {}
    return #list >= condition.needs(leaf) and list or nil
  end)
  hand(met or {})
  if all or not met then
    for nth in ipairs(condition.leaves(tree)) do
      hand(lists[nth] or {})
    end
  end
  if all then
    hand(lists[0] or {})
  end
  return signals
end

return tally
