--- Ends several running attempts of one partition, each like `ff_complete_execution`.
---
--- key  core     hash
--- arg  ends     all     execution id, lease id, epoch, attempt id, has_result, result and result_type, repeated
---
--- ok   answers  `completed` for each completed execution, otherwise the answer of `ff_complete_execution`
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom        a full server must still be able to finish

local FIELDS = 7

for nth = 1, #ends, FIELDS do
  if not ends[nth + FIELDS - 1] or #ends[nth + 1] ~= 36 or not whole(ends[nth + 2]) or #ends[nth + 3] ~= 36 then
    return no.invalid_args('field', 'ends')
  end
end
local batch, answers = complete.begin(now()), {}
index.collect()
for nth = 1, #ends, FIELDS do
  local id, lease_id, epoch, attempt_id, has_result, result, result_type = unpack(ends, nth, nth + FIELDS - 1)
  local attempt = lease.attempt_text(epoch, attempt_id)
  result, result_type = has_result == '1' and result, result_type ~= '' and result_type
  answers[#answers + 1] = complete.one(batch, id, lease_id, attempt, result, result_type) or 'completed'
end
complete.write(batch)
step.shared_by(#answers)
return ok(answers)
