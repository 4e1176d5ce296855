--- Lists the non-empty queues of a partition and the time of its next due work, without relying on hints.
---
--- It removes empty queues from the list of queues and drops the cached queue sizes and due times, so that they are read anew.
---
--- key  lanes          set
---
--- ok   next_due       ms, empty when nothing is due
--- ok   ready          lane, kind, class or empty, and the head's distance from the highest priority and creation time, repeated
--- ok   unroutable     lane, kind and class of blocked executions whose requirements no live worker meets, repeated
--- no   invalid_args
--- flag allow-oom             a full server must still be able to tidy up

local moment = now()
local ready, unroutable, empty = {}, {}, {}
for _, queue in ipairs(call('SMEMBERS', lanes)) do
  local lane, kind, class = keys.queue_parts(queue)
  local blocked = class and class:match('^,([^,].*)$')
  local zset = blocked and keys.unroutable(lane, kind, blocked) or keys.queue(lane, kind, class)
  local head = call('ZRANGE', zset, 0, 0, 'WITHSCORES')
  if head[1] and blocked then
    local at = #unroutable
    unroutable[at + 1], unroutable[at + 2], unroutable[at + 3] = lane, kind, blocked
  elseif head[1] then
    local behind, created_at = index.head(tonumber(head[2]), moment)
    local at = #ready
    ready[at + 1], ready[at + 2], ready[at + 3] = lane, kind, class or ''
    ready[at + 4], ready[at + 5] = text(behind), text(created_at)
  end
  local configured = not blocked and settings.of(lane)
  local has_keys = configured and configured.keyed and call('EXISTS', keys.turns(lane, kind, class)) == 1
  if has_keys then
    local at = #ready
    ready[at + 1], ready[at + 2], ready[at + 3] = lane, kind, class or ''
    ready[at + 4], ready[at + 5] = text(limits.fair_behind), '0'
  elseif not head[1] then
    empty[#empty + 1] = queue
  end
end
for first = 1, #empty, 1000 do
  call('SREM', lanes, unpack(empty, first, math.min(first + 999, #empty)))
end
index.forget_queues()
here.memory.earliest = {}
local next_due = due.next_here()
here.memory.announced = next_due
return ok(next_due and text(next_due) or '', ready, unroutable)
