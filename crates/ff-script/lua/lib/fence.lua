--- The refusal of a holder's call whose fence is incomplete; nothing when it is complete.

return function(lease_id, lease_epoch, attempt_id)
  if lease_id and lease_epoch and attempt_id then
    return nil
  elseif lease_id or lease_epoch or attempt_id then
    return no.partial_fence_triple()
  end
  return no.fence_required()
end
