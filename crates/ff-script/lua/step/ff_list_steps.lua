--- Lists recorded steps of an execution in order, bounded by number and bytes, but always one when there is one.
---
--- key  core     hash
--- arg  after    int?    number of the last step of the previous page
--- arg  limit    int
--- arg  room     int     maximum number of bytes
---
--- ok   page     number of the last step when more follow, otherwise empty; then head and result of each, repeated
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local kind, counted, flow_id, blocked_on = unpack(call('HMGET', core, 'kind', 'steps', 'flow_id', 'blocked_on'))
if not kind or blocked_on == 'staging' and flow_record.is_staged(flow_id) then
  return no.execution_not_found()
end
return ok(counted and steps.page(id, steps.counter(counted), after, limit, room) or { '' })
