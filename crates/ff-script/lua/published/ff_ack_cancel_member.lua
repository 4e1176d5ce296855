--- Cancels one member of a cancelled flow ahead of the member sweep, unless the flow spares it.
---
--- key  core          hash
--- arg  execution_id  text
---
--- ok   public_state
--- no   flow_not_found
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

now()
local id = keys.flow_id(core)
local flow, refusal = flow_record.found(id)
if not flow then
  return refusal
end
local e = record.load(execution_id)
if not e then
  return no.execution_not_found()
elseif e.core.flow_id ~= id then
  return no.execution_not_in_flow('field', 'execution_id')
end
call('SREM', keys.flow(id, 'pending_cancels'), execution_id)
if e.core.terminal_outcome or flow_record.spares(flow, e.core, e.lease ~= nil) then
  return already(e.core.public_state)
end
step.cancel(e, 'flow_cancel')
record.save(e)
return ok(e.core.public_state)
