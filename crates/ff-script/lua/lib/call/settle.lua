--- Writes the pending changes of a call, sends its hints, and returns its answer. A call that refuses has nothing to write.

return function(answer)
  if answer[1] == 1 then
    step.run()
    key_queue.run()
    event_feed.write()
  end
  index.flush()
  hint.send()
  return answer
end
