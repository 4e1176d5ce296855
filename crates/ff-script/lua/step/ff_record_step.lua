--- Records a step of an execution once. If the step is recorded already, returns it and writes nothing.
---
--- key  core              hash
--- arg  lease_id          uuid
--- arg  lease_epoch       int
--- arg  attempt_id        uuid
--- arg  kind              text    step, wait or undo
--- arg  name              text
--- arg  step_key          bytes   distinguishes steps of one name, empty when there is only one
--- arg  started_at        int?    the time of recording when absent or later than it
--- arg  content_type      text?   of the result; absent when the step failed
--- arg  result            bytes
--- arg  category          text?   of the failure; absent when the step succeeded
--- arg  message           free?
--- arg  permanent         flag
---
--- ok   seq               its number
--- ok   head              the step that was recorded before, without its result; absent when it is new
--- ok   result            the result of that step
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   limit_exceeded
--- no   payload_too_large
--- no   invalid_args

local moment, id = now(), keys.id(core)
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local held = call('HMGET', keys.of(id, 'lease:current'), 'lease_id', 'attempt', 'expires_at')
if held[1] ~= lease_id or held[2] ~= attempt or moment >= tonumber(held[3]) then
  return (lease.refusal(id, lease_id, attempt))
end
if not (kind == 'step' or kind == 'wait' or kind == 'undo') then
  return no.invalid_args('field', 'kind')
elseif not content_type == not category then
  return no.invalid_args('field', 'content_type')
elseif #result > limits.step_result_bytes then
  local limit, sent = text(limits.step_result_bytes), text(#result)
  return no.payload_too_large('field', 'result', 'limit', limit, 'sent', sent)
end
local index_key, identity = keys.of(id, 'step_index'), steps.identity(kind, name, step_key)
local nth, counted, has_policy = unpack(call('HMGET', core, 'current_attempt_index', 'steps', 'has_policy'))
local recorded = counted and call('HGET', index_key, identity)
if recorded then
  local head, kept = call('HGET', keys.of(id, 'steps'), recorded), call('HGET', keys.of(id, 'step_results'), recorded)
  return { 1, 'DUPLICATE', recorded, head, kept }
end
local counter = steps.counter(counted or nil)
local max_steps = has_policy and policy.read(call('GET', keys.of(id, 'policy'))).max_steps or limits.steps
local there, most = counter.count, max_steps
if kind == 'undo' then
  there, most = counter.undos, max_steps + 1
end
if there >= most or counter.next >= limits.step_numbers then
  return no.limit_exceeded('field', 'max_steps', 'limit', text(max_steps), 'sent', text(there + 1))
end

local seq, bytes = text(counter.next), #name + #step_key
local outcome
if category then
  bytes = bytes + #category + #(message or '')
  outcome = { failed = { failure = { category = category, message = message or '', permanent = permanent or nil } } }
else
  bytes = bytes + #result
  outcome = { succeeded = { content_type = content_type, bytes = #result } }
end
local head = {
  seq = counter.next, kind = kind, name = name, key = step_key ~= '' and step_key or nil, attempt = tonumber(nth),
  started_at = math.min(started_at or moment, moment), recorded_at = moment, outcome = outcome,
}
call('HSET', keys.of(id, 'steps'), seq, text(bytes) .. ' ' .. cjson.encode(head))
call('HSET', index_key, identity, seq)
if not category then
  call('HSET', keys.of(id, 'step_results'), seq, result)
end
steps.count(counter, counter.next, kind, bytes)
call('HSET', core, 'steps', steps.counted(counter))
return ok(seq)
