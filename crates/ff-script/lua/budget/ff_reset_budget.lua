--- Begins a period of a budget: the one that now is, in which nothing is used if it is later than the one before; or, when an operator
--- asks for it, the same one with nothing used.
---
--- key  definition     hash
--- arg  period_from    int?   absent when an operator asks
--- arg  period_until   int?   absent when it never ends
---
--- ok   state          empty; `over`, when it was made and how it resets, when the program has to say which period it is now, and nothing was done
--- ok   at             ms
--- ok   next_reset_at  empty when there is none
--- no   budget_not_found
--- no   invalid_args
--- flag allow-oom      a full server must still be able to finish and tidy up

local b = budget_ledger.open(definition)
if not b.name then
  return no.budget_not_found()
end
local moment = now()
if period_from then
  if period_from >= b.period_from then
    budget_ledger.begin(b, period_from, period_until)
  end
elseif budget_ledger.is_over(b, moment) then
  return ok(budget_ledger.over(b), text(moment), '')
else
  budget_ledger.clear(b)
end
budget_ledger.write(b)
return ok('', text(moment), b.period_until and text(b.period_until) or '')
