--- Stores the quota policies of a namespace on this partition, if they are newer than the stored ones. With `expected`, the stored revision
--- must also be that one.
---
--- key  quotas_here  string
--- arg  namespace    text
--- arg  revision     int
--- arg  expected     int?   the revision that must be stored
--- arg  set          text   JSON
---
--- ok   known        the revision that is stored now
--- no   invalid_args

now()
local kept = call('GET', quotas_here)
local known = kept and cjson.decode(kept).revision or 0
if known < revision and (not expected or known == expected) then
  call('SET', quotas_here, set)
  here.memory.quotas[namespace] = nil
  known = revision
end
return ok(text(known))
