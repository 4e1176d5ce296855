--- Registers a worker instance, or updates a registered one. Another worker cannot take the name of a live instance.
---
--- The key belongs to no partition and so has no clock; the caller sends the time.
---
--- key  worker         hash
--- arg  moment         int
--- arg  worker_id      text
--- arg  namespace      text
--- arg  lanes          text    in order, separated by commas
--- arg  kinds          text?   likewise; any kind when absent
--- arg  capabilities   text?   likewise
--- arg  ttl_ms         int
---
--- ok   expires_at     ms
--- ok   already        1 when it was known before
--- no   idempotency_conflict
--- no   invalid_args

local known = attendance.read(worker)
local lives = known and moment < known.expires_at
if lives and (known.worker_id ~= worker_id or known.namespace ~= namespace) then
  local detail = 'is the name of another worker that is there'
  return no.idempotency_conflict('field', 'worker_instance_id', 'detail', detail)
end
local fields = { 'worker_id', worker_id, 'namespace', namespace, 'lanes', lanes, 'seen_at', moment, 'ttl_ms', ttl_ms }
append(fields, 'registered_at', lives and known.registered_at or moment)
append(fields, 'kinds', kinds)
append(fields, 'capabilities', capabilities)
call('DEL', worker)
call('HSET', worker, unpack(fields))
return ok(text(moment + ttl_ms), lives and '1' or '')
