--- Blocks executions that may not run now, and takes them out of the queues of their partition. An execution that does not wait for a
--- worker under the given epoch is skipped. An assigned execution is not blocked on `route`. The JSON detail is stored unread.
---
--- key  all_executions  zset
--- arg  targets         list   execution id, epoch of its last lease, blocker, retry time or empty, and JSON detail, repeated
---
--- ok   blocked         number of blocked executions
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
