--- Reads the secrets of a partition, for signing tokens.
---
--- key  waitpoint_hmac_secrets  hash
---
--- ok   secrets                 names and values
--- ok   mark                    of the current secret, to be sent with tokens signed under it; empty when there is none
--- no   invalid_args
--- flag no-writes

local current = call('HGET', waitpoint_hmac_secrets, 'current_kid')
return ok(call('HGETALL', waitpoint_hmac_secrets), current and ring.mark(current) or '')
