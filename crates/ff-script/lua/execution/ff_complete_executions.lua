--- Ends several running attempts of one partition, each like `ff_complete_execution`. The type of a result is empty when it is JSON, and `-`
--- when there is no result.
---
--- key  core     hash
--- arg  ends     all     execution id, lease id, epoch and attempt id with a space between, result, result_type, repeated
---
--- ok   answers  `completed` for each completed execution, otherwise the answer of `ff_complete_execution`
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom        a full server must still be able to finish

local FIELDS = 5

for nth = 1, #ends, FIELDS do
  if not ends[nth + FIELDS - 1] or #ends[nth + 1] ~= 36 or #ends[nth + 2] < 38 then
    return no.invalid_args('field', 'ends')
  end
end
local batch, answers = complete.begin(now()), {}
index.collect()
for nth = 1, #ends, FIELDS do
  local id, lease_id, attempt, result, result_type = unpack(ends, nth, nth + FIELDS - 1)
  if result_type == '-' then
    result, result_type = nil, nil
  elseif result_type == '' then
    result_type = nil
  end
  answers[#answers + 1] = complete.one(batch, id, lease_id, attempt, result, result_type) or 'completed'
end
complete.write(batch)
step.shared_by(#answers)
return ok(answers)
