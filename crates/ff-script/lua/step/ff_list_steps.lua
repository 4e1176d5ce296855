--- The recorded steps of an execution, in order: at most so many, and so many bytes, but one when there is one.
---
--- key  core     hash
--- arg  after    int?    the number of the last step of the page before
--- arg  limit    int
--- arg  room     int     bytes
---
--- ok   page     the number of the last, empty when no other follows; then head and result of each in turn
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local kind, counted, flow_id, blocked_on = unpack(call('HMGET', core, 'kind', 'steps', 'flow_id', 'blocked_on'))
if not kind or blocked_on == 'staging' and flow_record.is_staged(flow_id) then
  return no.execution_not_found()
end
return ok(counted and steps.page(id, steps.counter(counted), after, limit, room) or { '' })
