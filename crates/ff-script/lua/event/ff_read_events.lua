--- Reads the events of a partition from a position on. Reading follows the feed: every event is recorded from then on, until a while after
--- the last read.
---
--- key  events    stream
--- arg  from_at   int?   nothing is read when absent
--- arg  from_nth  int?
--- arg  limit     int
--- arg  waits     flag   whether a hint is wanted when there is more
---
--- ok   moment    ms
--- ok   since     ms, start of the recording without gaps
--- ok   trimmed   1 when unread events were trimmed
--- ok   found     position and fields of each event
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
