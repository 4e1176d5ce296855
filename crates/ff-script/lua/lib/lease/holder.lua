--- Describes a claiming worker: its instance, the start and end of its leases as text, the fields of a lease and their number, and the
--- first 32 characters of lease and attempt ids. Each lease overwrites the fields of the previous one.

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
