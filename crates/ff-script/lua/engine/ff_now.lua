--- Returns the time on a partition.
---
--- key  clock_key      string
---
--- ok   now            ms
--- no   invalid_args
--- flag no-writes

return ok(text(math.max(here.memory.moment, clock())))
