--- An operator ends a suspension, whatever its condition. The decision is recorded as a signal, after what had counted so
--- far. Asked again for a suspension the same decision ended, it changes nothing.
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
--- arg  trigger_type        text     resume, approve or reject; operator is resume
--- arg  resume_delay_ms     int?     as its policy says when not said
--- arg+ suspension_id       uuid?    only this suspension, when said
--- arg+ signal_id           uuid?    of the decision; the suspension's own when not said, for it ends once
--- arg+ payload             bytes
--- arg+ content_type        text?    absent when it is JSON
--- arg+ requested_by        text?
--- arg+ reason              free?
---
--- ok   public_state
--- ok   suspension_id
--- no   execution_not_found
--- no   execution_not_suspended
--- no   invalid_input
--- no   invalid_args
--- flag allow-oom                    a full server must still be able to let work go on

local NAMES = { resume = 'resumed', approve = 'approved', reject = 'rejected' }

local decision = trigger_type == 'operator' and 'resume' or trigger_type
if not NAMES[decision] then
  return no.invalid_input('field', 'trigger_type')
end
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
    return already(state, last.suspension_id)
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
suspension.release_with(e, ended, sent, resume_delay_ms, moment)
local resumed = e.core.public_state
record.save(e)
return ok(resumed, current.suspension_id)
