--- Creates several executions of one partition in their order, each like `ff_create_execution`.
---
--- key  core                  hash
--- arg  works                 all     in the format of `work`
---
--- ok   answers               the answer of `ff_create_execution` to each; only the id for an execution that waits
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
