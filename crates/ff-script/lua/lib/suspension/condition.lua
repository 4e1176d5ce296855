--- The condition of a suspension: a tree whose leaves count the signals at the waitpoints they name.

local condition = {}

local function is_text(value)
  return type(value) == 'string' and value ~= ''
end

local function is_name(value)
  return value == nil or is_text(value)
end

local function all_of(list, is)
  if type(list) ~= 'table' or #list == 0 then
    return false
  end
  for _, item in ipairs(list) do
    if not is(item) then
      return false
    end
  end
  return true
end

local DISTINCT = { waitpoints = true, signals = true, sources = true }

--- The validators of a node's fields, by node type.
local SHAPES = {}

local function is_node(node)
  local shape = type(node) == 'table' and SHAPES[node.type]
  if not shape then
    return false
  end
  for name in pairs(node) do
    if name ~= 'type' and not shape[name] then
      return false
    end
  end
  for name, is in pairs(shape) do
    if not is(node[name]) then
      return false
    end
  end
  return true
end

local function are_nodes(members)
  return all_of(members, is_node)
end

local function are_texts(texts)
  return all_of(texts, is_text)
end

local function is_count(n)
  return type(n) == 'number' and n >= 1 and whole(n) ~= nil
end

local function is_distinct(of)
  return DISTINCT[of] == true
end

SHAPES.signal = { waitpoint = is_text, name = is_name }
SHAPES.count = { n = is_count, of = is_distinct, waitpoints = are_texts, name = is_name }
SHAPES.all_of = { members = are_nodes }
SHAPES.any_of = { members = are_nodes }
SHAPES.operator_only = {}
SHAPES.timeout_only = {}

--- Parses a condition. Returns nil if it is invalid.
function condition.read(json)
  local read, tree = pcall(cjson.decode, json)
  if read and is_node(tree) then
    return tree
  end
end

--- Returns how many distinct items a leaf needs.
function condition.needs(leaf)
  return leaf.n or 1
end

local function collect(node, leaves)
  if node.members then
    for _, member in ipairs(node.members) do
      collect(member, leaves)
    end
  elseif SHAPES[node.type].name then
    leaves[#leaves + 1] = node
  end
  return leaves
end

--- Returns the nodes that count signals, from left to right.
function condition.leaves(tree)
  return collect(tree, {})
end

--- Returns the items that meet a condition, leaves from left to right, or nil if it is not met. `of` returns the items that meet a leaf, or
--- nil.
function condition.met(tree, of)
  local nth = 0
  local function visit(node)
    if not node.members then
      nth = nth + (SHAPES[node.type].name and 1 or 0)
      return SHAPES[node.type].name and of(nth, node) or nil
    end
    local all, any, found = true, false, {}
    for _, member in ipairs(node.members) do
      local by = visit(member)
      all, any = all and by ~= nil, any or by ~= nil
      for _, one in ipairs(by or {}) do
        found[#found + 1] = one
      end
    end
    return (node.type == 'all_of' and all or node.type == 'any_of' and any) and found or nil
  end
  return visit(tree)
end

return condition
