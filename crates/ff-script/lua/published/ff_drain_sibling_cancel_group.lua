--- Continues to cancel the other upstreams of a join that has fired, up to the bound of one step. It spares an upstream that another
--- dependent needs.
---
--- key  core       hash
---
--- ok   cancelled  number of executions that ended with it
--- ok   more       1 when some upstreams are still to be checked
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_args
--- flag allow-oom             a full server must still be able to stop work

return drain_siblings(keys.id(core), false)
