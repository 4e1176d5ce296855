--- The policy of an execution: its own where it has one, otherwise the default.

local default

return function(e)
  if e.core.has_policy then
    return cjson.decode(call('GET', keys.of(e.id, 'policy')))
  end
  default = default or cjson.decode(limits.default_policy)
  return default
end
