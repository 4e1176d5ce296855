--- Removes a worker instance that has expired. An instance with a newer heartbeat stays.
---
--- key  worker  hash
--- arg  moment  int
---
--- ok   gone    1 when it was removed
--- ok   known   1 when it is still registered
--- no   invalid_args
--- flag allow-oom       a full server must still be able to tidy up

local known = attendance.read(worker)
if not known then
  return ok('', '')
elseif moment < known.expires_at then
  return ok('', '1')
end
call('DEL', worker)
return ok('1', '')
