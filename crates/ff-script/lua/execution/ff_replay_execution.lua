--- Restarts a finished execution: retries from zero, result and failure cleared, deadline set again. A member of a flow waits for its join
--- as its counts stand now. Its dependents are first notified that it runs again; finished dependents may run again after it.
---
--- key  core               hash
--- arg  reason             free?
--- arg  requested_by       free?
--- arg+ reopen_downstream  flag
--- arg+ from_name          text?   the first recorded step to redo, with all steps recorded after it
--- arg+ from_key           bytes
---
--- ok   public_state
--- ok   replays
--- no   execution_not_found
--- no   execution_not_terminal
--- no   max_replays_exhausted
--- no   invalid_input
--- no   flow_already_terminal
--- no   deps_not_satisfied
--- no   not_runnable
--- no   limit_exceeded
--- no   invalid_args

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif not e.core.terminal_outcome then
  return no.execution_not_terminal('state', e.core.public_state)
end
local replays, allowed = e.core.replays or 0, policy.of(e).max_replay_count
if replays >= allowed then
  return no.max_replays_exhausted('field', 'replays', 'limit', text(allowed), 'sent', text(allowed + 1))
end

local kept, unknown = steps.kept(e, from_name, from_key)
if unknown then
  return unknown
end
local refusal = e.core.flow_id and replay_member.refusal(e, moment)
  or settings.refusal(e.lane, e.core.lane_id or 'default', 'execution_id')
if refusal then
  return refusal
elseif e.core.queue_key and key_queue.is_full(e.core) then
  return key_queue.refusal()
end
reopen.reset_for_replay(e, moment, kept)
record.put_if_given(e, 'replay_reason', reason)
record.put_if_given(e, 'replay_requested_by', requested_by)
if e.core.flow_id then
  replay_member.begin(e, reopen_downstream, moment)
else
  key_queue.rejoin(e, moment)
  record.save(e)
end
return ok(e.core.public_state, text(replays + 1))
