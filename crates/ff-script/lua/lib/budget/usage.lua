--- Spending of an execution, as one field of its record: how many reports were accepted, how many of them every budget is known to have
--- counted, and the total of each.

local usage = {}

function usage.read(kept)
  local seq, counted_seq, total, counted = (kept or '0|0||'):match('^(%d+)|(%d+)|([^|]*)|(.*)$')
  return {
    seq = tonumber(seq),
    counted_seq = tonumber(counted_seq),
    total = budget_ledger.amounts(total),
    counted = budget_ledger.amounts(counted),
  }
end

function usage.add(spent, dimension, amount)
  spent.total[dimension] = (spent.total[dimension] or 0) + amount
end

function usage.count(spent, seq, total)
  spent.counted_seq, spent.counted = seq, total
end

--- Returns the refusal if amounts cannot be added: a sum must be exact, and the number of dimensions is limited.
function usage.refusal(spent, amounts)
  local count = 0
  for _ in pairs(spent.total) do
    count = count + 1
  end
  for nth = 1, #amounts, 2 do
    if not whole(amounts[nth + 1]) then
      return no.invalid_args('field', 'amounts')
    end
    count = count + (spent.total[amounts[nth]] and 0 or 1)
  end
  if count > limits.budget_dimensions then
    return no.limit_exceeded('field', 'amounts', 'limit', text(limits.budget_dimensions), 'sent', text(count))
  end
  for nth = 1, #amounts, 2 do
    local sum = (spent.total[amounts[nth]] or 0) + whole(amounts[nth + 1])
    if sum > limits.amount_max then
      return no.limit_exceeded('field', 'amounts.' .. amounts[nth], 'limit', text(limits.amount_max), 'sent', text(sum))
    end
  end
end

--- Writes the spending, and moves the execution in the index of usage that budgets have to count.
function usage.write(e, spent)
  local before = e.core.usage and usage.read(e.core.usage)
  e.core.usage = table.concat({
    text(spent.seq), text(spent.counted_seq), budget_ledger.written(spent.total), budget_ledger.written(spent.counted),
  }, '|')
  call('HSET', keys.of(e.id, 'core'), 'usage', e.core.usage)
  local was_pending, is_pending = before and before.counted_seq < before.seq, spent.counted_seq < spent.seq
  if is_pending and not was_pending then
    index.add(keys.usage_backlog(e.core.namespace or 'default'), e.core.created_at, e.id)
  elseif was_pending and not is_pending then
    usage.forget(e)
  end
end

--- Removes the execution from that index.
function usage.forget(e)
  index.remove(keys.usage_backlog(e.core.namespace or 'default'), e.id)
end

return usage
