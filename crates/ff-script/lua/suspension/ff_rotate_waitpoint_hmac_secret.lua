--- Makes a secret the current one of a partition. The previous secret still verifies for a while, and expired secrets are deleted. A
--- retired secret that still verifies can become current again. A repeated call changes nothing, so a rotation that reached only some
--- partitions can be repeated over all.
---
--- key  waitpoint_hmac_secrets  hash
--- arg  new_kid                 bytes
--- arg  new_secret_hex          bytes
--- arg  grace_ms                bytes
---
--- ok   outcome                 rotated or noop
--- ok   previous_kid            empty when there was none; the kid for a noop, without further fields
--- ok   new_kid
--- ok   gc_count                number of deleted secrets
--- no   invalid_kid
--- no   invalid_secret_hex
--- no   invalid_grace_ms
--- no   rotation_conflict
--- no   limit_exceeded
--- no   invalid_args

local secret, grace = new_secret_hex:lower(), whole(grace_ms)
if new_kid == '' or #new_kid > limits.name_bytes or new_kid:find('[:%c]') then
  return no.invalid_kid('field', 'kid')
elseif not secret:match('^%x+$') or #secret % 2 == 1 or #secret > 2 * limits.secret_bytes then
  return no.invalid_secret_hex('field', 'secret_hex')
elseif not grace or grace > limits.span_max_ms then
  return no.invalid_grace_ms('field', 'grace_ms')
end
local moment, kept = now(), record.hash(waitpoint_hmac_secrets) or {}
local function is_live(kid)
  local expires_at = tonumber(kept['expires_at:' .. kid])
  return not expires_at or moment < expires_at
end

local known = kept['secret:' .. new_kid]
local verifies = known and is_live(new_kid)
if verifies and not ring.equal(known, secret) then
  return no.rotation_conflict('field', 'kid')
elseif verifies and kept.current_kid == new_kid then
  return ok('noop', new_kid)
end
local live, gone = 0, {}
for name in pairs(kept) do
  local kid = name:match('^secret:(.*)$')
  if kid and is_live(kid) then
    live = live + 1
  elseif kid then
    gone[#gone + 1], gone[#gone + 2] = name, 'expires_at:' .. kid
  end
end
if live >= limits.ring_kids and not verifies then
  local limit, sent = text(limits.ring_kids), text(live + 1)
  return no.limit_exceeded('field', 'kid', 'limit', limit, 'sent', sent)
end

call('HDEL', waitpoint_hmac_secrets, 'expires_at:' .. new_kid, unpack(gone))
local previous = kept.current_kid
local fields = { 'current_kid', new_kid, 'secret:' .. new_kid, secret }
if previous then
  append(fields, 'previous_kid', previous)
  append(fields, 'previous_expires_at', moment + grace)
  append(fields, 'expires_at:' .. previous, moment + grace)
end
call('HSET', waitpoint_hmac_secrets, unpack(fields))
return ok('rotated', previous or '', new_kid, text(#gone / 2))
