--- Reserves the estimated spending of executions in a budget before they are claimed, in the order of the list. An execution that was
--- admitted under the same epoch stays admitted, and counts once. A refused execution waits in line.
---
--- key  definition  hash
--- arg  revision    int    of the budget, as the partition of the executions knows it
--- arg  claim_id    uuid?  the coming claim; absent to evaluate only executions with a reservation or a place
--- arg  requests    list   kind, execution id and epoch of the coming lease, repeated
---
--- ok   state       empty; or `over`, creation time and reset rule: the caller must send the current period, and nothing was decided
--- ok   at          ms
--- ok   name        of the budget; empty when its home has another revision of it, and nothing was decided
--- ok   retry_at    end of the period, empty when it never ends
--- ok   verdicts    amount taken (empty: admitted; `reserved_for_other`: reserved for another claim), limit and dimension, repeated
--- no   invalid_args

local moment, b = now(), budget_ledger.open(definition)
if not b.name or b.revision ~= revision then
  return ok('', text(moment), '', '', {})
elseif budget_ledger.is_over(b, moment) then
  return ok(budget_ledger.over(b), text(moment), '', '', {})
end
local ids, verdicts = {}, {}
for nth = 1, #requests, 3 do
  if not whole(requests[nth + 2]) then
    return no.invalid_args('field', 'requests')
  end
  ids[#ids + 1] = requests[nth + 1]
end
budget_ledger.load(b, ids)

local function evaluate(kind, id, epoch)
  local draw, place = b.draws[id], nil
  local slot = draw.slot
  if slot and slot.epoch == epoch and slot.word == 'held' then
    if slot.claim_id and slot.claim_id ~= claim_id and moment < tonumber(slot.at) + limits.quota_reserved_ms then
      return 'reserved_for_other'
    end
    slot.at, slot.claim_id = text(moment), claim_id
    return budget_ledger.put(b, id, kind)
  elseif slot and slot.epoch > epoch or not slot and not claim_id then
    return 'reserved_for_other'
  elseif slot and slot.word == 'held' then
    budget_ledger.give_up(b, id)
  elseif slot then
    place = slot.place
  end
  local dimension, taken, hard = budget_ledger.lacks(b, budget_ledger.estimate(b, kind))
  if dimension then
    budget_ledger.enqueue(b, id, kind, epoch, place, moment)
    return text(taken), text(hard), dimension
  end
  budget_ledger.give_up(b, id)
  budget_ledger.hold(b, id, kind, epoch, moment, claim_id)
end

for nth = 1, #requests, 3 do
  local taken, hard, dimension = evaluate(requests[nth], requests[nth + 1], whole(requests[nth + 2]))
  verdicts[nth], verdicts[nth + 1], verdicts[nth + 2] = taken or '', hard or '', dimension or ''
end
budget_ledger.write(b)
return ok('', text(moment), b.name, b.period_until and text(b.period_until) or '', verdicts)
