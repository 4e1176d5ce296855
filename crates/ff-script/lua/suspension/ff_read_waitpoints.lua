--- Reads the waitpoints of an execution in one consistent snapshot.
---
--- key  core          hash
--- arg  waitpoint_id  uuid?   only this one, when given
--- arg  open          flag    only waitpoints that take signals
---
--- ok   waitpoints    id, state, fields and buffered signals of each
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id, moment = keys.id(core), math.max(here.memory.moment, clock())
local e = record.load(id)
if not e then
  return no.execution_not_found()
end
local found = {}
for _, each in ipairs(waitpoint_id and { waitpoint_id } or call('SMEMBERS', keys.of(id, 'waitpoints'))) do
  local kept = waitpoint_record.read(id, each)
  local state = kept and waitpoint_record.state(e, kept, moment)
  if state == 'pending' or state == 'active' or state and not open then
    local unused = not kept.suspension_id and not kept.closed_at
    local buffered = unused and call('LRANGE', keys.waitpoint_signals(each), 0, -1) or {}
    found[#found + 1] = { each, state, call('HGETALL', keys.waitpoint(each)), buffered }
  end
end
return ok(found)
