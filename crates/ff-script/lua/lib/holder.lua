--- A worker as it claims: who it is, until when its leases last, what else is said of them, and the first of their ids.

return function(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
  local rest = {}
  append(rest, 'ttl_ms', lease_ttl_ms ~= limits.lease_ttl_ms and lease_ttl_ms)
  append(rest, 'lane', lane ~= 'default' and lane)
  return {
    name = worker_id .. ' ' .. worker_instance_id,
    instance = worker_instance_id,
    expires_at = moment + lease_ttl_ms,
    rest = rest,
    first_lease_id = first_lease_id,
    first_attempt_id = first_attempt_id,
  }
end
