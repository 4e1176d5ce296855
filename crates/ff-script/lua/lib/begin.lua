--- Begins a call about the partition of a key. The leftovers of a call that broke off are dropped.

return function(key)
  call = call or redis.call
  here.enter(key)
  index.begin()
  hint.begin()
  step.begin()
  event_feed.begin()
  key_queue.begin()
end
