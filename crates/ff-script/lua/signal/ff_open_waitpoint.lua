--- Returns the data to verify a token presented for a waitpoint: the waitpoint, and the secret of the token's kid. No state is revealed,
--- and every missing record gets the same answer.
---
--- key  core           hash
--- arg  waitpoint_id   uuid?   by its id, or
--- arg  waitpoint_key  text?   by the key outsiders know
--- arg  kid            text
---
--- ok   waitpoint_id
--- ok   waitpoint_key
--- ok   secret_hex
--- ok   expires_at     ms, empty for the current secret
--- ok   now            ms
--- ok   secret_mark    to be sent with a token that was verified under this secret
--- no   invalid_token
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local e = not waitpoint_id and record.load(id)
local named = waitpoint_id or e and waitpoint_key and waitpoint_record.by_key(e, waitpoint_key)
local kept = named and waitpoint_record.read(id, named)
local secret, expires_at = unpack(call('HMGET', keys.secrets(), 'secret:' .. kid, 'expires_at:' .. kid))
if not kept or not secret then
  return no.invalid_token()
end
return ok(named, kept.key, secret, expires_at or '', text(math.max(here.memory.moment, clock())), ring.mark(kid))
