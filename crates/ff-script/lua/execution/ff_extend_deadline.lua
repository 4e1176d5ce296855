--- Changes the deadline of a live execution, in any phase, to an earlier or a later time.
---
--- key  core         hash
--- arg  deadline_at  int
---
--- ok   from         the previous deadline, or empty
--- no   execution_not_found
--- no   execution_not_eligible
--- no   invalid_input
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  local state = e.core.public_state
  return no.execution_not_eligible('state', state, 'detail', 'the execution is ' .. state)
elseif deadline_at <= moment then
  return no.invalid_input('field', 'deadline_at', 'detail', 'must be later than now, which is ' .. text(moment))
end
local from = e.core.deadline_at
-- Done before the save, so that a member that its flow ends in this step leaves the index again.
if e.place ~= 'staged' then
  index.bound(deadline_at, e.id)
end
-- A completion reads the deadline from the lease.
if e.lease then
  call('HSET', keys.of(e.id, 'lease:current'), 'deadline_at', deadline_at)
end
record.put(e, 'deadline_at', deadline_at)
record.save(e)
return ok(from and text(from) or '')
