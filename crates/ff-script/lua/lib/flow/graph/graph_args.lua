--- Parses members, edges and joins from arguments: each is a list of texts, empty for an absent field.

local graph_args = {}

--- Returns a reader that takes one text after the other.
local function reader(items)
  local at, broken = 0, false
  local read = {}
  function read.text()
    at = at + 1
    return items[at] or ''
  end
  function read.maybe()
    local argument = read.text()
    return argument ~= '' and argument or nil
  end
  function read.number()
    local number = whole(read.text())
    broken = broken or not number
    return number or 0
  end
  function read.maybe_number()
    local argument = read.maybe()
    local number = argument and whole(argument)
    broken = broken or argument ~= nil and not number
    return number
  end
  function read.id()
    local argument = read.text()
    broken = broken or argument == ''
    return argument
  end
  function read.more()
    return at < #items and not broken
  end
  function read.is_whole()
    return at == #items and not broken
  end
  return read
end

local VARIANTS = { all_of = true, any_of = true, quorum = true }

--- Reads a join: its variant, how many upstreams it needs, and what happens to the others. Also returns whether it is valid.
local function read_join(read)
  local join = { variant = read.id(), k = read.maybe_number(), on_satisfied = read.maybe() }
  return join, VARIANTS[join.variant] and (join.variant == 'quorum') == (join.k ~= nil)
end

local function read_tags(read)
  local tags = {}
  for nth = 1, math.min(read.number(), limits.tags) * 2 do
    tags[nth] = read.text()
  end
  return tags
end

--- Returns the members of a list, or nil if it is malformed.
function graph_args.nodes(items)
  local nodes, read = {}, reader(items)
  while read.more() do
    local node = {
      id = read.id(),
      name = read.id(),
      lane_id = read.id(),
      kind = read.id(),
      payload = read.text(),
      digest = read.text(),
      content_type = read.maybe(),
      priority = read.number(),
      start_in_ms = read.maybe_number(),
      start_at = read.maybe_number(),
      deadline_in_ms = read.maybe_number(),
      attempt_timeout_ms = read.maybe_number(),
      policy_json = read.maybe(),
    }
    local is_join
    node.join, is_join = read_join(read)
    node.tags = read_tags(read)
    if not is_join or node.policy_json and policy_refusal(node.policy_json) then
      return nil
    end
    nodes[#nodes + 1] = node
  end
  return read.is_whole() and nodes or nil
end

local PASSES = { payload = true, input = true }

--- Returns the edges of a list, or nil if it is malformed. `name` is the caller's name for an edge.
function graph_args.edges(items)
  local edges, read = {}, reader(items)
  while read.more() do
    local one = { id = read.id(), upstream = read.id(), downstream = read.id() }
    one.passes, one.input_name, one.name = read.maybe(), read.maybe(), read.id()
    if #one.id ~= 36 or one.passes and not PASSES[one.passes] or (one.passes == 'input') ~= (one.input_name ~= nil) then
      return nil
    end
    edges[#edges + 1] = one
  end
  return read.is_whole() and edges or nil
end

--- Returns the joins of a list, each with its member, or nil if it is malformed.
function graph_args.joins(items)
  local joins, read = {}, reader(items)
  while read.more() do
    local one, is_join = { id = read.id(), name = read.id() }, nil
    one.join, is_join = read_join(read)
    if not is_join then
      return nil
    end
    joins[#joins + 1] = one
  end
  return read.is_whole() and joins or nil
end

return graph_args
