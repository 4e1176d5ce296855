--- Settles the edges of an execution that has ended, as far as one step goes: what a step left pending, or what a repair
--- wants looked at. Finds nothing to do when all is well.
---
--- key  core               hash
---
--- ok   resolved           edges that were settled
--- ok   cascaded_children  executions that ended with it
--- ok   more               1 when some of it is still pending
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
