--- Remembers an execution under a key for a while. Whether the while is over is judged by the execution's creation; the
--- key's expiry only collects garbage, a little later.

local GRACE_MS = 60000

return function(key, id, window_ms)
  if limits.forgets then
    call('SET', key, id, 'PX', window_ms + GRACE_MS)
  else
    call('SET', key, id)
  end
end
