--- The first executions of a queue, and the epoch of the last lease of each.
---
--- key  queue      zset
--- arg  most       int
---
--- ok   executions  id and epoch, zero before the first lease, and again
--- no   invalid_args
--- flag no-writes

local found = call('ZRANGE', queue, 0, most - 1)
for nth = #found, 1, -1 do
  local last = call('HGET', keys.of(found[nth], 'core'), 'last_attempt')
  found[2 * nth - 1], found[2 * nth] = found[nth], last and text(lease.attempt_parts(last)) or '0'
end
return ok(found)
