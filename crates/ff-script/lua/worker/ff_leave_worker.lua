--- Removes a worker instance. Its leases last until it finishes them or they expire.
---
--- key  worker     hash
--- arg  namespace  text
---
--- ok   already    1 when it was not known
--- no   invalid_args
--- flag allow-oom          a full server must still be able to tidy up

local known = attendance.read(worker)
if not known or known.namespace ~= namespace then
  return ok('1')
end
call('DEL', worker)
return ok('')
