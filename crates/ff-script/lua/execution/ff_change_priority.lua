--- Changes the priority of a live execution, for its current place in a queue and for later ones. A finished execution is refused.
---
--- key  core      hash
--- arg  priority  int
---
--- ok   from      the previous priority
--- no   execution_not_found
--- no   execution_not_eligible
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  local state = e.core.public_state
  return no.execution_not_eligible('state', state, 'detail', 'the execution is ' .. state)
end
local from = e.core.priority or 0
if from ~= priority then
  event_feed.to(e, 'prioritised', 'from', text(from), 'to', text(priority))
  record.drop(e, 'priority')
  record.put_if_given(e, 'priority', priority > 0 and priority)
end
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
local is_queued = e.place == 'waiting' or e.granted
if from ~= priority and is_queued and e.core.public_state == 'waiting' then
  if e.core.fair_key and not e.granted then
    turns.rank(e.lane, e.core.kind, e.core.class, e.core.fair_key, priority, e.core.created_at, e.id)
  else
    local class = e.granted and claim_grant.class(e.granted.worker_instance_id) or e.core.class
    index.rank(e.lane, e.core.kind, class, priority, e.core.created_at, e.id, priority > from)
  end
end
return ok(text(from))
