--- Releases slots of a quota policy. Under the released keys and `others`, drops admissions that have left the window and gives free slots
--- to waiting executions.
---
--- key  definition  hash
--- arg  releases    list   key, execution id, epoch, 1 when it led to no lease, and guard (claim id, reservation time, or empty), repeated
--- arg  others      list   further keys to update
---
--- ok   released    number of released slots and places
--- ok   woken       key, execution id and epoch of each execution that no longer waits, repeated
--- no   invalid_args
--- flag allow-oom   a full server must still be able to finish and tidy up

local FIELDS = 5

local moment, q = now(), quota_ledger.open(definition)
local wanted, used, seen = {}, {}, {}
local function look_after(key)
  if not seen[key] then
    seen[key], used[#used + 1] = true, key
  end
end
for nth = 1, #releases, FIELDS do
  if not whole(releases[nth + 2]) then
    return no.invalid_args('field', 'releases')
  end
  wanted[#wanted + 1], wanted[#wanted + 2] = releases[nth], releases[nth + 1]
  look_after(releases[nth])
end
for _, key in ipairs(others) do
  look_after(key)
end
quota_ledger.load(q, wanted, used)
local released, woken = 0, {}
for nth = 1, #releases, FIELDS do
  local key, id = releases[nth], releases[nth + 1]
  local slot = quota_ledger.slot(q, key, id)
  local guard = releases[nth + 4]
  local is_addressed = slot and (guard == '' or guard == slot.claim_id or guard == slot.at)
  if is_addressed and slot.epoch == whole(releases[nth + 2]) then
    quota_ledger.release(q, key, q.uses[key], id, slot, releases[nth + 3] == '1')
    quota_ledger.tidy(q, key)
    released = released + 1
  end
end
table.sort(used)
for _, key in ipairs(used) do
  quota_ledger.trim(q, key, q.uses[key], moment)
  quota_ledger.wake(q, key, q.uses[key], moment, woken)
end
quota_ledger.write(q)
return ok(text(released), woken)
