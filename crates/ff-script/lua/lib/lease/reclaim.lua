--- Takes an execution back from a holder whose lease expired. After as many times as its policy allows, the execution fails: work that
--- kills every worker must not do so for ever.

return function(e, moment)
  local times, cap = (e.core.reclaims or 0) + 1, policy.of(e).max_reclaim_count
  if times > cap then
    local message = 'the lease expired ' .. text(times) .. ' times; the policy allows ' .. text(cap)
    local ending = { outcome = 'failed', state = 'failed', by = 'reclaim_cap', lease = 'expired' }
    ending.attempt, ending.failure = 'lease_expired', failure('max_reclaims_exceeded', message)
    return finish(e, ending, moment)
  end
  event_feed.to(e, 'lease_expired')
  lease.finish(e, 'expired', nil, 'lease_expired', nil, moment)
  phase.waiting(e, moment)
  record.put(e, 'next_attempt', 'reclaim')
  record.put(e, 'reclaims', times)
end
