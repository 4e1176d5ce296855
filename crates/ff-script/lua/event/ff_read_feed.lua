--- Reads the stored feed of events of a partition, a page at a time. This read does not follow the feed.
---
--- key  events    stream
--- arg  after     text?   position of the last event that was read
--- arg  limit     int
---
--- ok   since     ms, start of the recording, empty when the feed was never followed
--- ok   until     ms, end of the recording, likewise
--- ok   found     position and fields of each event
--- no   invalid_args
--- flag no-writes

local since, until_ms = unpack(call('HMGET', keys.followed(), 'since', 'until'))
local found = call('XRANGE', events, after and '(' .. after or '-', '+', 'COUNT', limit)
return ok(since or '', until_ms or '', found)
