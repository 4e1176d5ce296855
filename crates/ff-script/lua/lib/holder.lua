--- A worker as it claims: who it is, from when until when its leases last as text, the fields of a lease and how many items they are, and
--- what the first 32 digits of the ids of leases and attempts are. Those of one lease are written over those of the one before.

return function(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
  local acquired_at, expires_at = text(moment), text(moment + lease_ttl_ms)
  local fields = {
    'lease_id', '', 'attempt', '', 'holder', worker_id .. ' ' .. worker_instance_id, 'acquired_at', acquired_at, 'expires_at',
    expires_at,
  }
  append(fields, 'ttl_ms', lease_ttl_ms ~= limits.lease_ttl_ms and lease_ttl_ms)
  append(fields, 'lane', lane ~= 'default' and lane)
  return {
    instance = worker_instance_id,
    acquired_at = acquired_at,
    expires_at = expires_at,
    fields = fields,
    count = #fields,
    ending = '',
    lease_ids = first_lease_id:sub(1, 32),
    attempt_ids = first_attempt_id and first_attempt_id:sub(1, 32),
  }
end
