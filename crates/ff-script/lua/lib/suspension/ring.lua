--- The secrets that sign tokens, as this partition has them. The calling program signs most tokens and verifies their MACs. This file
--- checks that it used the secret stored here, and that the secret is still valid.

local ring = {}

--- Returns true if two texts are the same. Its running time does not depend on where they differ.
function ring.equal(one, other)
  if #one ~= #other then
    return false
  end
  local differ = 0
  for at = 1, #one do
    local by = one:byte(at) - other:byte(at)
    differ = differ + by * by
  end
  return differ == 0
end

--- Returns the kid and the MAC of a token, if it is well formed.
function ring.parts(token)
  local kid, mac = (token or ''):match('^([^:]+):([0-9a-f]+)$')
  if kid and #mac == 64 then
    return kid, mac
  end
end

--- Identifies the secret of a kid, so that another secret under the same kid can be distinguished.
function ring.mark(kid)
  local secret = call('HGET', keys.secrets(), 'secret:' .. kid)
  return secret and redis.sha1hex(secret):sub(1, 16)
end

--- Returns the refusal if the token of a new waitpoint is not signed under the current secret. `mark` identifies the secret that its maker
--- used: a store that lost its secrets may have others under the same name.
function ring.refusal(token, mark)
  local current = call('HGET', keys.secrets(), 'current_kid')
  if not current then
    return no.hmac_secret_not_initialized()
  elseif ring.parts(token) ~= current or mark and mark ~= ring.mark(current) then
    return no.waitpoint_token_required()
  end
end

--- The version of the message that a token signs, as in ff-core.
local MESSAGE_VERSION = '1'

--- Returns a token for a new waitpoint of a caller that sends none; otherwise nil and the refusal.
function ring.mint(execution_id, waitpoint_id, key)
  local current = call('HGET', keys.secrets(), 'current_kid')
  local secret = current and call('HGET', keys.secrets(), 'secret:' .. current)
  if not secret then
    return nil, no.hmac_secret_not_initialized()
  end
  return current .. ':' .. hmac(secret, { MESSAGE_VERSION, execution_id, waitpoint_id, key })
end

--- Replaces the MAC of a missing waitpoint, so that one is compared all the same.
local NO_MAC = ('-'):rep(64)

--- Returns the refusal of a token for a waitpoint, unless its secret is still valid and the token is genuine: it is the one handed to its
--- maker, or the caller verified its MAC under the secret of `mark`. Only a genuine token is told that its secret was retired.
function ring.verify(waitpoint, kid, mac, mark, moment)
  local secret, expires_at = unpack(call('HMGET', keys.secrets(), 'secret:' .. kid, 'expires_at:' .. kid))
  local same = ring.equal(waitpoint and waitpoint.mac or NO_MAC, mac) and waitpoint.kid == kid
  local verified = mark and mark == ring.mark(kid)
  if not waitpoint or not secret or not (same or verified) then
    return no.invalid_token()
  elseif expires_at and moment >= tonumber(expires_at) then
    return no.token_expired()
  end
end

return ring
