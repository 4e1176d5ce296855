--- Delivers a signal by the authority of a token: counts it for the suspension that waits for it, or buffers it for a pending waitpoint.
--- The caller verifies the token's MAC and sends the mark of the secret it used. That secret must still exist and still verify tokens.
---
--- key  core             hash
--- arg  waitpoint_id     uuid
--- arg  kid              text
--- arg  mac              text
--- arg  signal_id        uuid
--- arg  signal_name      text
--- arg  source_type      text
--- arg  source_identity  text?
--- arg  payload          bytes
--- arg  content_type     text?   absent when it is JSON
--- arg  idempotency_key  text?
--- arg  dedup_ttl_ms     int     how long the key is remembered
--- arg+ secret_mark      text?   of the secret under which the caller verified the MAC; not needed for the token handed to its maker
---
--- ok   signal_id        of a duplicate, the id of the first signal
--- ok   effect
--- no   invalid_token
--- no   token_expired
--- no   target_not_signalable
--- no   pending_waitpoint_expired
--- no   waitpoint_closed
--- no   signal_limit_exceeded
--- no   invalid_args

local shown = { waitpoint_id = waitpoint_id, kid = kid, mac = mac, mark = secret_mark }
local sent = {
  id = signal_id,
  name = signal_name,
  source_type = source_type,
  source_identity = source_identity,
  payload = payload,
  content_type = content_type,
  idempotency_key = idempotency_key,
  dedup_ttl_ms = dedup_ttl_ms,
}
return deliver(keys.id(core), shown, sent, false, now())
