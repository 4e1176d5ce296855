--- Ends a suspension by an operator's decision, without its condition being met. The decision is recorded as a signal after those counted
--- so far. A repeated call for a suspension that the same decision ended changes nothing.
---
--- key  exec_core           hash
--- key  suspension_current  hash
--- key  waitpoint           hash
--- key  waitpoint_signals   list
--- key  suspension_timeout  zset
--- key  lane_eligible       zset
--- key  lane_delayed        zset
--- key  lane_suspended      zset
--- arg  execution_id        text
--- arg  trigger_type        text     resume, approve or reject; any other text is stored and means resume
--- arg  resume_delay_ms     int?     the delay of its policy when absent
--- arg+ suspension_id       uuid?    only this suspension, when given
--- arg+ signal_id           uuid?    of the decision; the suspension's id when absent, because a suspension ends once
--- arg+ payload             bytes
--- arg+ content_type        text?    absent when it is JSON
--- arg+ requested_by        text?
--- arg+ reason              free?
---
--- ok   public_state
--- ok   suspension_id
--- ok   already             when the same decision had ended it before, otherwise absent
--- no   execution_not_found
--- no   execution_not_suspended
--- no   invalid_input
--- no   invalid_args
--- flag allow-oom                    a full server must still be able to let work go on

local NAMES = { resume = 'resumed', approve = 'approved', reject = 'rejected' }

if not printable(trigger_type) then
  return no.invalid_input('field', 'trigger_type')
elseif requested_by and not printable(requested_by) then
  return no.invalid_input('field', 'requested_by')
end
local is_known = NAMES[trigger_type] ~= nil
local decision = is_known and trigger_type or 'resume'
local moment = now()
local e = record.load(keys.id(exec_core))
if not e then
  return no.execution_not_found()
end
local current, state = e.suspension, e.core.public_state
if not current or suspension_id and suspension_id ~= current.suspension_id then
  local last = suspension.last(e)
  local meant = last and (not suspension_id or suspension_id == last.suspension_id)
  if meant and last.how == 'operator' and last.decision == decision then
    return ok(state, last.suspension_id, 'already')
  elseif current then
    local detail = 'that suspension is over, and the execution is in another'
    return no.execution_not_suspended('state', state, 'detail', detail)
  end
  return no.execution_not_suspended('state', state)
end
local sent = {
  id = signal_id or current.suspension_id,
  name = NAMES[decision],
  source_type = 'operator',
  source_identity = requested_by,
  payload = payload,
  content_type = content_type,
  bytes = #payload,
}
local ended = { how = 'operator', decision = decision, requested_by = requested_by, reason = reason }
ended.trigger_type = not is_known and trigger_type or nil
suspension.release_with(e, ended, sent, resume_delay_ms, moment)
local resumed = e.core.public_state
record.save(e)
return ok(resumed, current.suspension_id)
