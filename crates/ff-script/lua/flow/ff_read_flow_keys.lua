--- The keys under which a flow's graph was changed and which may still be remembered, with what was answered.
---
--- key  core     hash
---
--- ok   keys     of each the key, and its names and values
--- no   flow_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.flow_id(core)
if call('EXISTS', core) == 0 then
  return no.flow_not_found()
end
local grants = call('ZRANGE', keys.flow(id, 'grants'), 0, limits.flow_read_at_once - 1)
for nth, key in ipairs(grants) do
  grants[nth] = { key, call('HGETALL', keys.flow(id, 'grant:' .. key)) }
end
return ok(grants)
