--- Creates several executions of one partition in their order, each as `ff_create_execution` would.
---
--- key  core                  hash
--- arg  works                 all     as `work` has them
---
--- ok   answers               what `ff_create_execution` would answer to each; the id alone of one that waits
--- no   idempotency_conflict
--- no   not_runnable
--- no   invalid_policy_json
--- no   invalid_args

local count = work.count(works)
if not count then
  return no.invalid_args('field', 'works')
elseif count > 1 then
  index.collect()
end
return ok(work.create_all(works, now()))
