--- Stores or removes the definition of a budget at its home partition, if `revision` is newer than the stored one. A budget that is new
--- there, or has another `created_at`, starts with nothing used.
---
--- key  definition     hash
--- key  policies       set
--- arg  budget_id      uuid
--- arg  revision       int    of the namespace's set of policies and budgets
--- arg  name           text?  absent when the budget is gone
--- arg  created_at     int?
--- arg  on_hard_limit  text?
--- arg  reset          text?  JSON
--- arg  period_from    int?   start of the current period
--- arg  period_until   int?   end of the current period, absent when it never ends
--- arg  bounds         list   dimension, hard limit and soft limit, repeated
--- arg  estimates      list   kind and amounts, repeated
---
--- ok   known          the revision that is stored now
--- no   invalid_args

now()
local b = budget_ledger.open(definition)
if b.revision >= revision then
  return ok(text(b.revision))
end
if name and not (created_at and on_hard_limit and reset and period_from) then
  return no.invalid_args('field', 'created_at')
end
local fields, amounts = { 'revision', text(revision) }, {}
append(fields, 'name', name)
append(fields, 'created_at', name and text(created_at))
append(fields, 'on_hard_limit', name and on_hard_limit)
append(fields, 'reset', name and reset)
for nth = 1, #estimates, 2 do
  append(fields, 'estimate:' .. estimates[nth], estimates[nth + 1])
end
for nth = 1, #bounds, 3 do
  append(amounts, bounds[nth] .. ':hard', bounds[nth + 1] ~= '' and bounds[nth + 1])
  append(amounts, bounds[nth] .. ':soft', bounds[nth + 2] ~= '' and bounds[nth + 2])
end
if name then
  budget_ledger.begin(b, period_from, period_until)
  if not b.name or b.created_at ~= created_at then
    budget_ledger.clear(b)
  end
end
call('DEL', definition, definition .. ':limits')
call('HSET', definition, unpack(fields))
if amounts[1] then
  call('HSET', definition .. ':limits', unpack(amounts))
end
budget_ledger.write(b)
call(name and 'SADD' or 'SREM', policies, budget_id)
hint.quota_defined(budget_id)
return ok(text(revision))
