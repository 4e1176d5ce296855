--- Tells the home of a budget how it is defined, or that it is gone, if that is newer than what it knows. A budget that was made after
--- the one that is known begins with nothing used.
---
--- key  definition     hash
--- key  policies       set
--- arg  budget_id      uuid
--- arg  revision       int    of what limits the namespace
--- arg  name           text?  absent when the budget is gone
--- arg  created_at     int?
--- arg  on_hard_limit  text?
--- arg  reset          text?  JSON
--- arg  period_from    int?   the period that now is
--- arg  period_until   int?   absent when it never ends
--- arg  bounds         list   dimension, hard limit, soft limit, and again
--- arg  estimates      list   kind and amounts, and again
---
--- ok   known          the revision that is known then
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
