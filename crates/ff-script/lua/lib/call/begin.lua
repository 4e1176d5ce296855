--- Starts a call on the partition of a key. Drops the state that an aborted call left behind.

return function(key)
  call = call or redis.call
  here.enter(key)
  index.begin()
  hint.begin()
  step.begin()
  event_feed.begin()
  key_queue.begin()
end
