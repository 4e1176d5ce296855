--- The secrets tokens are signed under, as this partition has them. The program that calls signs most tokens and verifies their
--- MACs; what is judged here is whether that was done under the secret there is now, and whether it still stands.

local ring = {}

--- Whether two texts are the same. How long it takes tells nothing of where they differ.
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

--- The kid and the MAC of a token, if it is one.
function ring.parts(token)
  local kid, mac = (token or ''):match('^([^:]+):([0-9a-f]+)$')
  if kid and #mac == 64 then
    return kid, mac
  end
end

--- Identifies the secret of a kid, so that another one under the same kid can be distinguished.
function ring.mark(kid)
  local secret = call('HGET', keys.secrets(), 'secret:' .. kid)
  return secret and redis.sha1hex(secret):sub(1, 16)
end

--- What the maker of a waitpoint is refused with when its token is not signed under the current secret. A mark says which
--- one the maker means: a store that lost its secrets may have others under the same name.
function ring.refusal(token, mark)
  local current = call('HGET', keys.secrets(), 'current_kid')
  if not current then
    return no.hmac_secret_not_initialized()
  elseif ring.parts(token) ~= current or mark and mark ~= ring.mark(current) then
    return no.waitpoint_token_required()
  end
end

--- The version of the message a token signs, as the rules have it.
local MESSAGE_VERSION = '1'

--- A token for a new waitpoint, for a caller that sends none; or nothing, and the refusal.
function ring.mint(execution_id, waitpoint_id, key)
  local current = call('HGET', keys.secrets(), 'current_kid')
  local secret = current and call('HGET', keys.secrets(), 'secret:' .. current)
  if not secret then
    return nil, no.hmac_secret_not_initialized()
  end
  return current .. ':' .. hmac(secret, { MESSAGE_VERSION, execution_id, waitpoint_id, key })
end

--- Stands for the MAC of a waitpoint that is not there, so that one is compared all the same.
local NO_MAC = ('-'):rep(64)

--- The refusal of a token shown for a waitpoint, unless its secret still verifies and the token is genuine: it is the one
--- handed to its maker, or the caller verified its MAC under the secret of this mark. Only the genuine token learns that
--- its secret was retired.
function ring.judge(waitpoint, kid, mac, mark, moment)
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
