--- Counts the spending of an execution in a budget, and returns the budget's balance. Reports that the budget has already counted are
--- skipped. Spending from before the budget applied is not counted.
---
--- key  definition    hash
--- arg  execution_id  text
--- arg  kind          text
--- arg  seq           int    number of reports in `total`
--- arg  total         text?  dimension and amount, repeated
--- arg  counted_seq   int    number of reports that every budget is known to have counted
--- arg  counted       text?  the sum of those reports
---
--- ok   state         empty; `gone` without a budget; or `over`, creation time and reset rule: the caller must send the current period
--- ok   at            ms
--- ok   name
--- ok   on_hard_limit
--- ok   crossed       1 when one of these reports was the first to exceed a soft limit
--- ok   balance       dimension, used, reserved, hard limit and soft limit, repeated
--- no   invalid_args
--- flag allow-oom     work that runs on a full server must be able to go on

local moment, b = now(), budget_ledger.open(definition)
if not b.name then
  return ok('gone', text(moment), '', '', '', {})
elseif budget_ledger.is_over(b, moment) then
  return ok(budget_ledger.over(b), text(moment), '', '', '', {})
end
local draw = budget_ledger.draw(b, execution_id)
if draw.seq < seq then
  if draw.seq == 0 then
    budget_ledger.log_draw(b, execution_id, moment)
  end
  local totals, known = budget_ledger.amounts(total), budget_ledger.amounts(counted)
  for _, dimension in ipairs(b.dimensions) do
    local seen, sum = draw.seen[dimension] or 0, totals[dimension] or 0
    local before = counted_seq >= draw.seq and (known[dimension] or 0) or seen
    local new = math.max(sum - before, 0)
    budget_ledger.add(b.used, dimension, new)
    budget_ledger.add(b.spent, dimension, new)
    b.folded[dimension] = (b.folded[dimension] or 0) - math.max(before - seen, 0)
    local from_reserve = math.min(new, draw.reserved[dimension] or 0)
    budget_ledger.take(draw.reserved, dimension, from_reserve)
    budget_ledger.take(b.reserved, dimension, from_reserve)
    if sum > 0 then
      draw.seen[dimension] = sum
    end
    if b.soft[dimension] and b.used[dimension] > b.soft[dimension] then
      b.crossings[dimension] = b.crossings[dimension] or execution_id .. ' ' .. text(seq)
    end
  end
  draw.seq, draw.at = seq, moment
  budget_ledger.put(b, execution_id, kind)
  budget_ledger.forget_draws(b, moment)
  budget_ledger.write(b)
end
local crossed, balance = false, {}
for _, by in pairs(b.crossings) do
  local id, nth = by:match('^(%S+) (%d+)$')
  crossed = crossed or id == execution_id and tonumber(nth) > counted_seq and tonumber(nth) <= seq
end
for _, dimension in ipairs(b.dimensions) do
  local hard, soft = b.hard[dimension], b.soft[dimension]
  for _, value in ipairs({
    dimension, text(b.used[dimension] or 0), text(b.reserved[dimension] or 0), hard and text(hard) or '',
    soft and text(soft) or '',
  }) do
    balance[#balance + 1] = value
  end
end
return ok('', text(moment), b.name, b.on_hard_limit, crossed and '1' or '', balance)
