--- Ends the running attempt with a result. A repeated call with the same fence gets the first answer.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  has_result    flag
--- arg  result        bytes
--- arg  result_type   text?   absent when it is JSON
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom             a full server must still be able to finish

local batch = complete.begin(now())
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local refusal = complete.one(batch, keys.id(core), lease_id, attempt, has_result and result, result_type)
complete.write(batch)
return refusal or ok('completed')
