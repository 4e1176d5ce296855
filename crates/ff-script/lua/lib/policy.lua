--- The policy of an execution: its own where it has one, otherwise the default. Fields its own leaves out are the default's.

local default

--- A value, and what a default has and it has not.
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

return function(e)
  default = default or cjson.decode(limits.default_policy)
  if not e.core.has_policy then
    return default
  end
  local own = completed(cjson.decode(call('GET', keys.of(e.id, 'policy'))), default)
  for _, fields in ipairs({ own, own.timeout_policy }) do
    for name, value in pairs(fields) do
      fields[name] = value ~= cjson.null and value or nil
    end
  end
  return own
end
