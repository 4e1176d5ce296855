--- Begins a call about the partition of a key. What a call that broke off left behind is forgotten.

return function(key)
  call = call or redis.call
  here.enter(key)
  index.begin()
  hint.begin()
  step.begin()
  event_feed.begin()
end
