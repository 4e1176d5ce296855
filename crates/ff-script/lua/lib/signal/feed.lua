--- The feed of delivered signals: one per partition, bounded, read with a cursor.

local feed = {}

--- Adds an entry.
function feed.add(entry, moment)
  add_to_stream(keys.deliveries(), moment, entry)
  hint.delivered()
end

--- Returns the entries after a stream id, or from the start if it is nil, and whether earlier ones may be lost. A full feed has lost
--- entries before its first one.
function feed.after(place, most)
  local key = keys.deliveries()
  local entries = call('XRANGE', key, place and '(' .. place or '-', '+', 'COUNT', most)
  if call('XLEN', key) < limits.feed then
    return entries, false
  end
  local reached = place and call('XRANGE', key, '-', place, 'COUNT', 1)[1]
  return entries, not reached
end

--- Returns the stream id of the last entry, or nil.
function feed.last()
  local last = call('XREVRANGE', keys.deliveries(), '+', '-', 'COUNT', 1)[1]
  return last and last[1]
end

return feed
