--- Settles the edges of an ended execution, up to the bound of one step. It continues the work that an earlier step left pending, or
--- repeats it for a repair. Edges that are settled stay as they are.
---
--- key  core               hash
---
--- ok   resolved           number of settled edges
--- ok   cascaded_children  number of executions that ended with it
--- ok   more               1 when some work is still pending
--- no   execution_not_found
--- no   execution_not_terminal
--- no   invalid_args
--- flag allow-oom             a full server must still be able to finish

local moment, id = now(), keys.id(core)
local e = record.load(id)
if not e then
  return no.execution_not_found()
elseif not e.core.flow_id or step.dependents(e) == 0 then
  return ok('0', '0', '')
elseif e.pending_propagation then
  step.owed_by(e)
elseif not e.core.terminal_outcome then
  return no.execution_not_terminal('state', e.core.public_state)
else
  e.pending_propagation = { what = 'end', since = moment }
  step.later('dependents', id)
end
local resolved, cascaded = step.run()
return ok(text(resolved), text(cascaded), e.pending_propagation and '1' or '')
