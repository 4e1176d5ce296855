--- Takes over the quota policies of a namespace, if they are newer than what is known here, or exactly the next after what is
--- known, where a revision is expected.
---
--- key  quotas_here  string
--- arg  namespace    text
--- arg  revision     int
--- arg  expected     int?   the revision that must be known
--- arg  set          text   JSON
---
--- ok   known        the revision that is known then
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
