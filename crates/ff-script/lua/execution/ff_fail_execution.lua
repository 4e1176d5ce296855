--- Ends the running attempt with a failure. The execution is retried after a backoff, or ends. A repeated call with the same fence gets the
--- first answer.
---
--- key  core          hash
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  category      text
--- arg  message       bytes
--- arg  permanent     flag
--- arg  jitter          int     random number, for jitter
---
--- ok   outcome       retry_scheduled or failed
--- ok   retry_at      ms, empty when there is no further attempt
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_args
--- flag allow-oom             a full server must still be able to finish

local moment = now()
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local e, refusal, ended, former = lease.held(keys.id(core), lease_id, attempt, moment)
if e then
  retry.failed(e, failure(category, message, permanent), jitter, moment)
  record.save(e)
elseif ended ~= 'failed' then
  return refusal
end
local retry_at = (e or former).core.last_lease_until
return ok(retry_at and 'retry_scheduled' or 'failed', retry_at and text(retry_at) or '')
