--- Makes sure that a join which fired has its other upstreams looked at: one that should have been and is not noted as owed
--- is looked at from the start. Finds nothing to do when all is well.
---
--- key  core       hash
---
--- ok   cancelled  executions that ended with it
--- ok   more       1 when some are still to be looked at
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

return drain_siblings(keys.id(core), true)
