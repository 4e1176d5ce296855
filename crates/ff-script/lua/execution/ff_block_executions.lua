--- Takes executions that may not run now out of the queues of their partition. Those that do not wait for a worker under the
--- given epoch are left alone, and so are those that are assigned to a worker that lacks what they require. What keeps each back is JSON that is kept as it is.
---
--- key  all_executions  zset
--- arg  targets         list   id, epoch of its last lease, what it is blocked on, until when or empty, JSON; and again
---
--- ok   blocked         how many
--- no   invalid_args

if #targets % 5 > 0 then
  return no.invalid_args('field', 'targets')
end
local moment, blocked = now(), 0
index.collect()
for nth = 1, #targets, 5 do
  local id, epoch, on, until_ms, detail = unpack(targets, nth, nth + 4)
  local e = record.find(id)
  local last = e and e.core.last_attempt
  local is_queued = e and e.core.public_state == 'waiting' and (not e.core.blocked_on or e.grant and on ~= 'route')
  local is_of_epoch = tonumber(last and lease.attempt_parts(last) or 0) == tonumber(epoch)
  if is_queued and is_of_epoch and phase.keep_back(e, on, tonumber(until_ms), detail, moment) then
    record.save(e)
    blocked = blocked + 1
  end
end
return ok(text(blocked))
