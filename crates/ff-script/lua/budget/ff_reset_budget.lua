--- Starts the current period of a budget, or clears the usage of this period when an operator asks. A period that is later than the stored
--- one starts with nothing used.
---
--- key  definition     hash
--- arg  period_from    int?   start of the current period, absent when an operator asks
--- arg  period_until   int?   end of the current period, absent when it never ends
---
--- ok   state          empty; or `over`, creation time and reset rule: the caller must send the current period, and nothing was done
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
