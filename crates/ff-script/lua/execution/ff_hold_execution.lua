--- Holds a live execution by an operator's request: it cannot be claimed until it is released. A ready execution is blocked at once, any
--- other when it becomes ready. An execution that is held already keeps its first hold.
---
--- key  core          hash
--- arg  reason        free?
--- arg  requested_by  free?
---
--- ok   public_state
--- no   execution_not_found
--- no   execution_not_active
--- no   invalid_args
--- flag allow-oom             a full server must still be able to keep work back

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif e.core.terminal_outcome then
  return lease.not_active(e)
end
local held = e.core.held_at
if not held then
  record.put(e, 'held_at', moment)
  record.put_if_given(e, 'held_by', requested_by)
  record.put_if_given(e, 'hold_reason', reason)
  event_feed.to(e, 'blocked', 'reason', 'paused_by_operator')
  if phase.is_ready(e) then
    phase.waiting(e, moment)
  end
end
local state = e.core.public_state
-- Also saved without a change: a flow that is being cancelled ends its member here.
record.save(e)
return held and already(state) or ok(state)
