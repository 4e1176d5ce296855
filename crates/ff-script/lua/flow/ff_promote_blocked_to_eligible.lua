--- Moves a blocked member on after its join was decided: it becomes ready or delayed, or is skipped.
---
--- key  core          hash
---
--- ok   public_state
--- no   execution_not_found
--- no   not_blocked_by_deps
--- no   deps_not_satisfied
--- no   invalid_args
--- flag allow-oom             a full server must still be able to let work go on

now()
local id = keys.id(core)
local e = record.load(id)
if not e then
  return no.execution_not_found()
elseif e.core.public_state ~= 'waiting_children' then
  return no.not_blocked_by_deps('state', e.core.public_state)
end
dependents.admit(e)
if e.core.public_state == 'waiting_children' then
  return no.deps_not_satisfied('state', e.core.public_state)
end
return ok(e.core.public_state)
