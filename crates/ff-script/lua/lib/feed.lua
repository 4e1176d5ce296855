--- The feed of delivered signals: one per partition, bounded, read with a cursor.

local feed = {}

--- Adds an entry at a moment. Time does not run backwards on a partition, except that a server which takes over from one
--- that crashed may be behind it for a moment; then the entry follows the last one.
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

--- What comes after a place, the place being an id of the stream or nothing, and whether some before it may be gone: a full
--- feed has lost something before its first.
function feed.after(place, most)
  local key = keys.deliveries()
  local entries = call('XRANGE', key, place and '(' .. place or '-', '+', 'COUNT', most)
  if call('XLEN', key) < limits.feed then
    return entries, false
  end
  local reached = place and call('XRANGE', key, '-', place, 'COUNT', 1)[1]
  return entries, not reached
end

--- The place of the last entry, if there is one.
function feed.last()
  local last = call('XREVRANGE', keys.deliveries(), '+', '-', 'COUNT', 1)[1]
  return last and last[1]
end

return feed
