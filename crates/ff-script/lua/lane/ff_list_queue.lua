--- Lists the first executions of a queue, with the epoch of the last lease of each. Executions with a key follow the others, in the order
--- of the keys' turns.
---
--- key  queue      zset
--- arg  most       int
--- arg  lane       text?  name used in indexes, when the queue is of ready work
--- arg  kind       text?
--- arg  class      text?
---
--- ok   executions  execution id and epoch, 0 before the first lease, repeated
--- no   invalid_args
--- flag no-writes

local found = call('ZRANGE', queue, 0, most - 1)
if lane and #found < most and call('HGET', keys.lane(lane, 'config'), 'keyed') then
  for _, key in ipairs(call('ZRANGE', keys.turns(lane, kind, class), 0, most - 1)) do
    for _, id in ipairs(call('ZRANGE', keys.queue_of_key(lane, kind, class, key), 0, most - #found - 1)) do
      found[#found + 1] = id
    end
    if #found == most then
      break
    end
  end
end
for nth = #found, 1, -1 do
  local last = call('HGET', keys.of(found[nth], 'core'), 'last_attempt')
  found[2 * nth - 1], found[2 * nth] = found[nth], last and text(lease.attempt_parts(last)) or '0'
end
return ok(found)
