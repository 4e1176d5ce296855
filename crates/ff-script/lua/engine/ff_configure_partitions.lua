--- Sets the number of partitions of each family, unless it is set already, and returns the numbers.
---
--- key  config         hash
--- arg  flow           int
--- arg  budget         int
--- arg  quota          int
---
--- ok   flow
--- ok   budget
--- ok   quota
--- no   invalid_args

local NAMES = { 'num_flow_partitions', 'num_budget_partitions', 'num_quota_partitions' }

if call('EXISTS', config) == 0 then
  call('HSET', config, NAMES[1], flow, NAMES[2], budget, NAMES[3], quota)
end
return ok(unpack(call('HMGET', config, unpack(NAMES))))
