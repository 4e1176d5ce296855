--- Remembers an id under a key for a while. Readers check themselves whether the time is over; the expiry only collects garbage, a little
--- later.

local GRACE_MS = 60000

return function(key, id, window_ms)
  if limits.forgets then
    call('SET', key, id, 'PX', window_ms + GRACE_MS)
  else
    call('SET', key, id)
  end
end
