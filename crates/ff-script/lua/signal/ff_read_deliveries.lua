--- Reads the deliveries of a partition after a position in its feed, or only the position of the feed's end. The reader gets a hint when
--- there is more.
---
--- key  partition_signal_delivery  stream
--- arg  from_now                   flag    only the position of the feed's end
--- arg  after                      text?   from the beginning when absent
--- arg  limit                      int
---
--- ok   last                       position of the last entry with `from_now`, empty when there is none
--- ok   entries                    position and fields of each
--- ok   missed                     1 when the reader may have missed trimmed entries before them
--- no   invalid_args
--- flag no-writes

hint.await_deliveries()
if from_now then
  return ok(feed.last() or '', {}, '')
end
local entries, missed = feed.after(after, limit)
return ok('', entries, missed and '1' or '')
