--- Replaces a given version of a schedule, or removes it. A repeated call gets the first answer. The partition has one set of all schedules
--- by name, and one by the time of their next look.
---
--- key  schedule       hash
--- key  all_schedules  zset
--- key  looks          zset
--- arg  name           text   name used in the sets
--- arg  expected       int    the version that must be stored, 0 for none
--- arg  version        int?   the new version, absent to remove the schedule
--- arg  look_at        int?
--- arg  json           text?  the schedule
---
--- ok   written        1, or 0 when another version is stored
--- no   invalid_args

now()
local known = tonumber(call('HGET', schedule, 'version') or 0)
if (version or 0) == known then
  local is_same = not version or call('HGET', schedule, 'record') == json
  return ok(is_same and '1' or '0')
elseif known ~= expected then
  return ok('0')
end
if not version then
  call('DEL', schedule)
  call('ZREM', all_schedules, name)
  call('ZREM', looks, name)
  return ok('1')
end
call('HSET', schedule, 'version', text(version), 'record', json)
call('ZADD', all_schedules, 0, name)
if look_at then
  call('ZADD', looks, look_at, name)
  hint.tick(look_at)
else
  call('ZREM', looks, name)
end
return ok('1')
