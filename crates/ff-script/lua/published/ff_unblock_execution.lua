--- Makes an execution that admission has blocked ready again. An execution that an operator holds stays blocked until it is released. One
--- behind another execution of its singleton key stays blocked until that one ends.
---
--- key  core          hash
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_eligible
--- no   invalid_args
--- flag allow-oom             a full server must still be able to let work go on

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif not phase.reason(e.core.blocked_on) or e.core.blocked_on == 'operator' or e.core.behind then
  return no.execution_not_eligible('state', e.core.public_state)
end
phase.admit(e, moment)
record.save(e)
return ok(e.core.public_state)
