--- Returns the refusal for a holder's call with an incomplete fence, or nil if the fence is complete.

return function(lease_id, lease_epoch, attempt_id)
  if lease_id and lease_epoch and attempt_id then
    return nil
  elseif lease_id or lease_epoch or attempt_id then
    return no.partial_fence_triple()
  end
  return no.fence_required()
end
