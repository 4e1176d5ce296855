--- Returns the state of the join of a member. A member that no edge enters is satisfied.
---
--- key  core         hash
---
--- ok   group_state
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local e = record.load(id)
if not e then
  return no.execution_not_found()
elseif not e.core.flow_id then
  return no.execution_not_in_flow('field', 'execution_id', 'detail', 'is in no flow')
end
local joined = step.group(e.core.flow_id, id)
return ok(joined and joined.group_state or 'satisfied')
