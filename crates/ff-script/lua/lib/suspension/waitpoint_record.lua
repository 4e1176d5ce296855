--- Waitpoints: their record and their token. The state of a waitpoint follows from its execution.

local waitpoint_record = {}

local FIELDS = { 'execution_id', 'waitpoint_key', 'token_kid', 'token_mac', 'expires_at', 'suspension_id', 'closed_at' }

--- Returns a waitpoint of an execution, or nil.
function waitpoint_record.read(execution_id, id)
  local of, key, kid, mac, expires_at, suspension_id, closed_at = unpack(call('HMGET', keys.waitpoint(id), unpack(FIELDS)))
  if of ~= execution_id then
    return nil
  end
  return {
    id = id,
    key = key,
    kid = kid,
    mac = mac,
    expires_at = tonumber(expires_at or nil),
    suspension_id = suspension_id,
    closed_at = closed_at,
  }
end

--- Returns the state of a waitpoint.
function waitpoint_record.state(e, waitpoint, moment)
  for _, one in ipairs(pending.of(e)) do
    if one.id == waitpoint.id then
      return moment >= one.expires_at and 'expired' or 'pending'
    end
  end
  local used, closed = waitpoint.suspension_id, waitpoint.closed_at
  if used and e.suspension and used == e.suspension.suspension_id then
    return 'active'
  elseif not used and not closed and waitpoint.expires_at and moment >= waitpoint.expires_at then
    return 'expired'
  end
  return 'closed'
end

--- Returns the waitpoint that outsiders know by a key: an open one, or else one of the last suspension.
function waitpoint_record.by_key(e, key)
  for _, one in ipairs(pending.of(e)) do
    if one.key == key then
      return one.id
    end
  end
  for _, kept in ipairs({ e.suspension or false, suspension.last(e) or false }) do
    for _, bound in ipairs(kept and suspension.bound(kept) or {}) do
      if bound.key == key then
        return bound.id
      end
    end
  end
end

--- Creates a waitpoint. `more` holds further names and values.
function waitpoint_record.create(e, id, key, token, more, moment)
  local kid, mac = ring.parts(token)
  call(
    'HSET', keys.waitpoint(id), 'execution_id', e.id, 'waitpoint_key', key, 'token_kid', kid, 'token_mac', mac,
    'created_at', moment, unpack(more)
  )
  call('SADD', keys.of(e.id, 'waitpoints'), id)
  record.put_if_given(e, 'has_waited', not e.core.has_waited and '1')
end

--- Returns a waitpoint as its maker gets it: id, key and token.
function waitpoint_record.granted(waitpoint)
  return waitpoint.id, waitpoint.key, waitpoint.kid .. ':' .. waitpoint.mac
end

return waitpoint_record
