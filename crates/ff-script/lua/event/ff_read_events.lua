--- The events of a partition from a place on. Reading follows the feed: from then on, and for a while after the last read,
--- every event is recorded.
---
--- key  events    stream
--- arg  from_at   int?   when absent, nothing is read
--- arg  from_nth  int?
--- arg  limit     int
--- arg  waits     flag   whether a hint is wanted when there is more
---
--- ok   moment    ms
--- ok   since     ms, since when it is recorded without a gap
--- ok   trimmed   1 when something that was not read is kept no longer
--- ok   found     of each its place, and its names and values
--- no   invalid_args

local moment = now()
local since = event_feed.follow(moment)
if waits then
  hint.await_events_here()
end
if not from_at then
  return ok(text(moment), text(since), '', {})
end
local found, trimmed = event_feed.from(text(from_at) .. '-' .. text(from_nth or 0), limit)
return ok(text(moment), text(since), trimmed and '1' or '', found)
