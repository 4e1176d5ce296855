--- Creates a waitpoint that is pending until a suspension uses it or it expires. A repeated call with the key of a pending waitpoint
--- returns that one, so that its buffered signals are not lost.
---
--- key  exec_core                 hash
--- key  waitpoint                 hash
--- key  pending_waitpoint_expiry  zset
--- key+ waitpoint_hmac_secrets    hash
--- arg  execution_id              text
--- arg  attempt_index             int?     the current one, when there is no fence
--- arg  waitpoint_id              uuid
--- arg  waitpoint_key             bytes
--- arg  expires_at                int?
--- arg+ expires_in_ms             int?     overrides the absolute time
--- arg+ lease_id                  uuid?
--- arg+ lease_epoch               int?
--- arg+ attempt_id                uuid?
--- arg+ waitpoint_token           text?    signed here when absent
--- arg+ secret_mark               text?    of the secret the token is signed under
---
--- ok   waitpoint_id
--- ok   waitpoint_key
--- ok   waitpoint_token
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   fence_required
--- no   partial_fence_triple
--- no   waitpoint_token_required
--- no   waitpoint_already_exists
--- no   hmac_secret_not_initialized
--- no   invalid_waitpoint_key
--- no   invalid_input
--- no   limit_exceeded
--- no   invalid_args

if not printable(waitpoint_key) then
  return no.invalid_waitpoint_key('field', 'waitpoint_key')
end
local fenced = lease_id or lease_epoch or attempt_id or not attempt_index
local refusal = fenced and fence(lease_id, lease_epoch, attempt_id)
if refusal then
  return refusal
end
local moment = now()
local ends_at = expires_in_ms and moment + expires_in_ms or expires_at
if not ends_at or ends_at <= moment then
  return no.invalid_input('field', 'expires_at')
end
local e, refused
if fenced then
  local attempt = lease.attempt_text(text(lease_epoch), attempt_id)
  e, refused = lease.held(keys.id(exec_core), lease_id, attempt, moment)
else
  e, refused = lease.held_as(keys.id(exec_core), attempt_index, moment)
end
if not e then
  return refused
end
local live = pending.live(e, moment)
for _, one in ipairs(live) do
  if one.key == waitpoint_key then
    return ok(waitpoint_record.granted(waitpoint_record.read(e.id, one.id)))
  end
end
if #live >= limits.pending_waitpoints then
  local limit, sent = text(limits.pending_waitpoints), text(#live + 1)
  return no.limit_exceeded('field', 'waitpoints', 'limit', limit, 'sent', sent)
end
local token = waitpoint_token
if token then
  refusal = ring.refusal(token, secret_mark)
else
  token, refusal = ring.mint(e.id, waitpoint_id, waitpoint_key)
end
if refusal then
  return refusal
elseif call('EXISTS', keys.waitpoint(waitpoint_id)) == 1 then
  return no.waitpoint_already_exists('field', 'waitpoint_id')
end

waitpoint_record.create(e, waitpoint_id, waitpoint_key, token, { 'expires_at', ends_at }, moment)
live[#live + 1] = { id = waitpoint_id, expires_at = ends_at, key = waitpoint_key }
pending.keep(e, live)
-- Marks the lease: its end has to close the waitpoint.
call('HSET', keys.of(e.id, 'lease:current'), 'ending', (e.lease.ending or '') .. ' linked')
record.save(e)
return ok(waitpoint_id, waitpoint_key, token)
