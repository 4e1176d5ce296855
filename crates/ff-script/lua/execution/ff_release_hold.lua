--- Ends an operator's hold. A ready execution that it blocked returns to its original place in its queue.
---
--- key  core          hash
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_active
--- no   invalid_args
--- flag allow-oom             a full server must still be able to let work go on

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  return lease.not_active(e)
end
local held = e.core.held_at
if held then
  record.drop(e, 'held_at')
  record.drop(e, 'held_by')
  record.drop(e, 'hold_reason')
  event_feed.to(e, 'unblocked', 'reason', 'paused_by_operator')
  if phase.is_ready(e) then
    phase.waiting(e, moment)
  end
end
local state = e.core.public_state
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
return held and ok(state) or already(state)
