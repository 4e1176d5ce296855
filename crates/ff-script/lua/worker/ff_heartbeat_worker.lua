--- Records that a worker instance is alive. An unknown or expired instance is refused and must register again.
---
--- key  worker      hash
--- arg  moment      int
--- arg  namespace   text
---
--- ok   expires_at  ms
--- no   not_found
--- no   invalid_args
--- flag allow-oom           work that runs on a full server must be able to go on

local known = attendance.read(worker)
if not known or known.namespace ~= namespace or moment >= known.expires_at then
  local detail = 'was never registered, or was not heard of for too long; register again'
  return no.not_found('field', 'worker_instance_id', 'detail', detail)
end
call('HSET', worker, 'seen_at', moment)
return ok(text(moment + known.ttl_ms))
