--- Starts a finished execution afresh: retries from zero, result and failure cleared, deadline armed again.
---
--- key  core          hash
--- arg  reason        free?
--- arg  requested_by  free?
---
--- ok   public_state
--- ok   replays
--- no   execution_not_found
--- no   execution_not_terminal
--- no   max_replays_exhausted
--- no   invalid_args

local CLEARED = [[
  cancellation_reason cancelled_by failure_category failure_message failure_permanent finished_by progress_at
  progress_message progress_percent reclaims result_type retries terminal_outcome deadline_at
]]

local moment = now()
local e = record.load(keys.id(core))
if not e then
  return no.execution_not_found()
elseif not e.core.terminal_outcome then
  return no.execution_not_terminal('state', e.core.public_state)
end
local rules, replays = policy(e), e.core.replays or 0
local allowed = rules.max_replay_count
if replays >= allowed then
  return no.max_replays_exhausted('field', 'replays', 'limit', text(allowed), 'sent', text(allowed + 1))
end

for name in CLEARED:gmatch('%S+') do
  record.drop(e, name)
end
record.put_if_said(e, 'last_lease_id', e.core.last_lease_id)
record.put_if_said(e, 'last_attempt', e.core.last_attempt)
record.put(e, 'replays', replays + 1)
record.put(e, 'next_attempt', 'replay')
record.put_if_said(e, 'replay_reason', reason)
record.put_if_said(e, 'replay_requested_by', requested_by)
local deadline_ms = rules.timeout_policy.execution_deadline_ms
record.put_if_said(e, 'deadline_at', deadline_ms and moment + deadline_ms)
phase.waiting(e, moment)
call('DEL', keys.of(e.id, 'result'))
suspension.forget(e)
record.save(e)
return ok('waiting', text(replays + 1))
