--- Lists the idempotency keys of changes to a flow's graph that may still be remembered, with the stored answers.
---
--- key  core     hash
---
--- ok   keys     each key with its names and values
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
