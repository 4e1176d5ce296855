--- Closes a pending waitpoint. A waitpoint that takes no more signals stays as it is. A waitpoint that a suspension waits on is refused,
--- because the suspension might then never end.
---
--- key  exec_core                 hash
--- key  waitpoint                 hash
--- key  pending_waitpoint_expiry  zset
--- arg  waitpoint_id              uuid
--- arg  reason                    bytes
--- arg+ has_reason                flag     set when the reason is given and empty
---
--- ok   closed                    already_closed when it was closed or expired, otherwise absent
--- no   execution_not_found
--- no   waitpoint_not_found
--- no   waitpoint_not_pending
--- no   invalid_args
--- flag allow-oom                          a full server must still be able to tidy up

local moment = now()
local e = record.load(keys.id(exec_core))
if not e then
  return no.execution_not_found()
end
local kept = waitpoint_record.read(e.id, waitpoint_id)
if not kept then
  return no.waitpoint_not_found()
end
local state = waitpoint_record.state(e, kept, moment)
if state == 'active' then
  return no.waitpoint_not_pending('detail', 'a suspension waits on it')
elseif state ~= 'pending' then
  return ok('already_closed')
end
pending.keep(e, pending.except(e, waitpoint_id))
local fields = { 'closed_at', moment }
append(fields, 'closed_reason', (has_reason or reason ~= '') and reason)
call('HSET', keys.waitpoint(waitpoint_id), unpack(fields))
record.save(e)
return ok()
