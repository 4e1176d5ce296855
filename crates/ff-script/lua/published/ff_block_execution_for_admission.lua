--- Blocks a waiting execution that may not run now, and takes it out of its queue.
---
--- key  core          hash
--- arg  on            text   route, quota or budget
--- arg  retry_at      int?   when it is ready again, if only time blocks it
--- arg  detail        bytes  JSON: the same `on` and the fields of that blocker
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_eligible
--- no   invalid_blocking_reason
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.place ~= 'waiting' then
  return no.execution_not_eligible('state', e.core.public_state)
end
local is_read, decoded = pcall(cjson.decode, detail)
local names_it = is_read and type(decoded) == 'table' and decoded.on == on
if not names_it or not phase.keep_back(e, on, retry_at, detail, moment) then
  return no.invalid_blocking_reason('field', 'on', 'detail', 'must be one of route, quota, budget, and what the detail says')
end
record.save(e)
return ok(e.core.public_state)
