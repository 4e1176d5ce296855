--- Records that every budget has counted a number of reports of an execution.
---
--- key  core         hash
--- arg  counted_seq  int    number of counted reports
--- arg  counted      text?  their sum
--- arg  crossed      text?  ids of budgets, separated by spaces, whose soft limit one of these reports was the first to exceed
---
--- ok   settled      1 when this was not recorded before
--- no   invalid_args
--- flag allow-oom    work that runs on a full server must be able to go on

now()
local e = record.find(keys.id(core))
local spent = e and e.core.usage and usage.read(e.core.usage)
if not spent or spent.counted_seq >= counted_seq or counted_seq > spent.seq then
  return ok('')
end
usage.count(spent, counted_seq, budget_ledger.amounts(counted))
usage.write(e, spent)
for budget_id in (crossed or ''):gmatch('%S+') do
  event_feed.to(e, 'soft_limit_exceeded', 'budget_id', budget_id)
end
return ok('1')
