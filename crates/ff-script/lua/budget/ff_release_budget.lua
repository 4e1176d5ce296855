--- Releases the rest of reservations, then admits waiting executions in the order they came. An execution that needs more than is free
--- keeps its place, and later ones may pass it.
---
--- key  definition  hash
--- arg  releases    list   kind, execution id, epoch and guard (claim id, time of the reservation, or empty for any), repeated
---
--- ok   state       empty; or `over`, creation time and reset rule: the caller must send the current period, and nothing was done
--- ok   at          ms
--- ok   released    number of released reservations and places
--- ok   woken       kind, execution id and epoch of each execution that no longer waits, repeated
--- no   invalid_args
--- flag allow-oom   a full server must still be able to finish and tidy up

local FIELDS = 4

local moment, b = now(), budget_ledger.open(definition)
if budget_ledger.is_over(b, moment) then
  return ok(budget_ledger.over(b), text(moment), '0', {})
end
local ids, released, woken = {}, 0, {}
for nth = 1, #releases, FIELDS do
  if not whole(releases[nth + 2]) then
    return no.invalid_args('field', 'releases')
  end
  ids[#ids + 1] = releases[nth + 1]
end
budget_ledger.load(b, ids)
for nth = 1, #releases, FIELDS do
  local id, guard = releases[nth + 1], releases[nth + 3]
  local slot = b.draws[id].slot
  local is_addressed = slot and (guard == '' or guard == slot.claim_id or guard == slot.at)
  if is_addressed and slot.epoch == whole(releases[nth + 2]) then
    budget_ledger.give_up(b, id)
    budget_ledger.put(b, id, releases[nth])
    released = released + 1
  end
end
for _, one in ipairs(budget_ledger.line(b)) do
  if b.name and budget_ledger.lacks(b, {}) then
    break
  end
  if not b.name or not budget_ledger.lacks(b, budget_ledger.estimate(b, one.kind)) then
    budget_ledger.draw(b, one.id)
    budget_ledger.give_up(b, one.id)
    if b.name then
      budget_ledger.hold(b, one.id, one.kind, one.epoch, moment, nil)
    else
      budget_ledger.put(b, one.id, one.kind)
    end
    woken[#woken + 1], woken[#woken + 2], woken[#woken + 3] = one.kind, one.id, text(one.epoch)
  end
end
budget_ledger.trim_queue(b)
budget_ledger.write(b)
return ok('', text(moment), text(released), woken)
