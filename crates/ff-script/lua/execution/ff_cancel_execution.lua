--- Ends a live execution as cancelled. A cancelled execution stays as it is. One that ended otherwise is refused.
---
--- key  core          hash
--- arg  reason        free?
--- arg  requested_by  free?
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_active
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome == 'cancelled' then
  return already('cancelled')
elseif e.core.terminal_outcome then
  return lease.not_active(e)
end
local ending = { outcome = 'cancelled', state = 'cancelled', by = 'cancel', lease = 'cancelled', attempt = 'cancelled' }
ending.reason, ending.requested_by = reason, requested_by
finish(e, ending, moment)
record.save(e)
return ok('cancelled')
