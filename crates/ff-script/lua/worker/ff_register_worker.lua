--- Enters a worker instance, or what is new about one that is there already. Another worker's name cannot be taken while that
--- one lives.
---
--- The key lies outside the partitions and there is nothing beside it, so the moment comes with the call.
---
--- key  worker         hash
--- arg  moment         int
--- arg  worker_id      text
--- arg  namespace      text
--- arg  lanes          text    in their order, with commas between
--- arg  kinds          text?   likewise; any when none is named
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
