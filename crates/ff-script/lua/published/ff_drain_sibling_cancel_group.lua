--- Continues to cancel the other upstreams of a join that fired, those that no other dependent needs, as far as one step
--- goes.
---
--- key  core       hash
---
--- ok   cancelled  executions that ended with it
--- ok   more       1 when some are still to be looked at
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

return drain_siblings(keys.id(core), false)
