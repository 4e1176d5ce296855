--- The deliveries of a partition after a place in its feed, or only where the feed ends. The reader gets a hint when there
--- is more.
---
--- key  partition_signal_delivery  stream
--- arg  from_now                   flag    only where the feed ends
--- arg  after                      text?   from the beginning when not said
--- arg  limit                      int
---
--- ok   last                       the place of the last entry when asked for it, empty when there is none
--- ok   entries                    of each its place, and its names and values
--- ok   missed                     1 when some before them may be gone that the reader never saw
--- no   invalid_args
--- flag no-writes

hint.await_deliveries()
if from_now then
  return ok(feed.last() or '', {}, '')
end
local entries, missed = feed.after(after, limit)
return ok('', entries, missed and '1' or '')
