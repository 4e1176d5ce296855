--- Notes that every budget has counted some reports of an execution.
---
--- key  core         hash
--- arg  counted_seq  int    how many
--- arg  counted      text?  their total
--- arg  crossed      text?  budgets, with spaces between, of which one of these reports went past a soft limit first
---
--- ok   settled      1 when it was not noted before
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
