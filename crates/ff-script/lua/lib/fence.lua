--- What a holder's call is refused with when its fence is not all there; nothing when it is.

return function(lease_id, lease_epoch, attempt_id)
  if lease_id and lease_epoch and attempt_id then
    return nil
  elseif lease_id or lease_epoch or attempt_id then
    return no.partial_fence_triple()
  end
  return no.fence_required()
end
