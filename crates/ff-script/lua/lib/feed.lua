--- The feed of delivered signals: one per partition, bounded, read with a cursor.

local feed = {}

--- Adds an entry. Time does not run backwards on a partition, except that a server that takes over after a crash may be behind for a
--- moment. The entry then follows the last one.
function feed.add(entry, moment)
  local key = keys.deliveries()
  local added = redis.pcall('XADD', key, 'MAXLEN', limits.feed, text(moment) .. '-*', unpack(entry))
  if type(added) == 'table' then
    local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    local at = last and last[1]:match('^%d+') or text(moment)
    call('XADD', key, 'MAXLEN', limits.feed, at .. '-*', unpack(entry))
  end
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
