--- Worker instances: registration and heartbeats.

local attendance = {}

--- Returns the record of a worker instance, or nil. After `expires_at` the instance counts as gone.
function attendance.read(key)
  local fields = call('HMGET', key, 'worker_id', 'namespace', 'registered_at', 'seen_at', 'ttl_ms')
  if not fields[1] then
    return nil
  end
  local known = { worker_id = fields[1], namespace = fields[2], registered_at = tonumber(fields[3]) }
  known.ttl_ms = tonumber(fields[5])
  known.expires_at = tonumber(fields[4]) + known.ttl_ms
  return known
end

return attendance
