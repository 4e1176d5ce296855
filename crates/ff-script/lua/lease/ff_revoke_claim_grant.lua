--- Ends an assignment early. The execution becomes ready for any worker, at its original place in its queue.
---
--- key  core          hash
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_active
--- no   invalid_args
--- flag allow-oom             a full server must still be able to let work go on

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  return lease.not_active(e)
end
local granted = e.grant
if granted then
  phase.admit(e, moment)
end
local state = e.core.public_state
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
return granted and ok(state) or already(state)
