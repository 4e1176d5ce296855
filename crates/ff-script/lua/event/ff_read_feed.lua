--- The feed of events of a partition as it is kept, some of it at a time. This read does not follow the feed.
---
--- key  events    stream
--- arg  after     text?   the place of the last that was read
--- arg  limit     int
---
--- ok   since     ms, empty when it was never followed
--- ok   until     ms, likewise
--- ok   found     of each its place, and its names and values
--- no   invalid_args
--- flag no-writes

local since, until_ms = unpack(call('HMGET', keys.followed(), 'since', 'until'))
local found = call('XRANGE', events, after and '(' .. after or '-', '+', 'COUNT', limit)
return ok(since or '', until_ms or '', found)
