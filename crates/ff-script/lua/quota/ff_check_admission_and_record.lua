--- Reserves slots of a quota policy for executions before they are claimed, in the order of the list, so that concurrent calls are both
--- counted. An execution that was admitted under the same epoch stays admitted, and counts once.
---
--- key  definition  hash
--- arg  revision    int    of the policy, as the partition of the executions knows it
--- arg  claim_id    uuid?  the coming claim, for which slots are reserved for a while; absent to evaluate only executions with a slot or a place
--- arg  requests    list   key, execution id and epoch of the coming lease, repeated
---
--- ok   name        of the policy; empty when its home has another revision of it, and nothing was decided
--- ok   at          ms
--- ok   verdicts    used (empty: admitted; `reserved_for_other`: reserved for another claim), limit and retry time, repeated
--- no   invalid_args

local moment, q = now(), quota_ledger.open(definition)
if not q.name or q.revision ~= revision then
  return ok('', text(moment), {})
end
local wanted, used, seen = {}, {}, {}
for nth = 1, #requests, 3 do
  if not whole(requests[nth + 2]) then
    return no.invalid_args('field', 'requests')
  end
  wanted[#wanted + 1], wanted[#wanted + 2] = requests[nth], requests[nth + 1]
  if not seen[requests[nth]] then
    seen[requests[nth]], used[#used + 1] = true, requests[nth]
  end
end
quota_ledger.load(q, wanted, used)
for _, key in ipairs(used) do
  quota_ledger.trim(q, key, q.uses[key], moment)
  quota_ledger.tidy(q, key)
end
local verdicts = {}
for nth = 1, #requests, 3 do
  local taken, limit, retry_at = quota_ledger.evaluate(q, requests[nth], requests[nth + 1], whole(requests[nth + 2]), moment, claim_id)
  quota_ledger.tidy(q, requests[nth])
  verdicts[nth] = taken == 'reserved_for_other' and taken or taken and text(taken) or ''
  verdicts[nth + 1] = limit and text(limit) or ''
  verdicts[nth + 2] = retry_at and text(retry_at) or ''
end
quota_ledger.write(q)
return ok(q.name, text(moment), verdicts)
