--- Policies. Absent fields have their default values. Few policies are in use at a time, so the ones read last are cached by their text.
--- They are shared and never change.

local policy = {}

local default
local known, count = {}, 0

--- Returns a value, with its absent fields from a default.
local function completed(value, from)
  if value == nil or value == cjson.null then
    return from
  elseif type(value) ~= 'table' or type(from) ~= 'table' or value.type ~= from.type then
    return value
  end
  for name, usual in pairs(from) do
    value[name] = completed(value[name], usual)
  end
  return value
end

--- Returns the requirement class of a policy: its requirements in order, each once, with commas between. Returns nil if there are none.
local function class_of(own)
  local required, seen, list = own.routing_requirements, {}, {}
  for _, word in ipairs(type(required) == 'table' and required.required_capabilities or {}) do
    list[#list + 1] = not seen[word] and word or nil
    seen[word] = true
  end
  table.sort(list, is_before)
  return list[1] and table.concat(list, ',')
end

local function decode(json)
  local own = completed(cjson.decode(json), default)
  own.class = class_of(own)
  for _, fields in ipairs({ own, own.timeout_policy }) do
    for name, value in pairs(fields) do
      fields[name] = value ~= cjson.null and value or nil
    end
  end
  return own
end

--- Returns the policy of a text, or the default policy without one.
function policy.read(json)
  default = default or cjson.decode(limits.default_policy)
  if not json then
    return default
  end
  local own = known[json]
  if not own then
    if count >= limits.policies_remembered then
      known, count = {}, 0
    end
    own = decode(json)
    known[json], count = own, count + 1
  end
  return own
end

--- Returns the policy of an execution.
function policy.of(e)
  return policy.read(e.core.has_policy and call('GET', keys.of(e.id, 'policy')))
end

--- Returns the requirement class of a policy's text, or nil.
function policy.class(json)
  return json and policy.read(json).class or nil
end

--- Returns true if the policy of a text is cached.
function policy.is_known(json)
  return known[json] ~= nil
end

return policy
