--- Creates an execution from another one of its partition, with the same properties and payload. Copies the steps before a given one that
--- succeeded and were not undone.
---
--- key  core          hash
--- arg  source        uuid    the other execution
--- arg  payload       bytes   of the source, as just read
--- arg  digest        bytes   of the payload, for comparisons
--- arg  content_type  text?   absent when it is JSON
--- arg  before_name   text?   the first step that is not copied; all are copied when absent
--- arg  before_key    bytes
---
--- ok   execution_id
--- ok   copied        number of copied steps
--- no   execution_not_found
--- no   idempotency_conflict
--- no   invalid_input
--- no   payload_too_large
--- no   not_runnable
--- no   invalid_args

local id, source_id = keys.id(core), keys.execution(source)
local existing = record.find(id)
if existing then
  local from, count = (existing.core.forked_from or ''):match('^(%S+) (%d+)$')
  if from ~= source_id then
    return no.idempotency_conflict('field', 'uuid', 'detail', 'was used before for other work')
  end
  return { 1, 'DUPLICATE', id, count }
end
local e = record.load(source_id)
if not e then
  return no.execution_not_found()
end
local heads, before, refusal = steps.heads(source_id, e.core.steps), nil, nil
if before_name then
  before, refusal = steps.point(heads, 'before_step', before_name, before_key)
  if refusal then
    return refusal
  end
end
local copied, counter = {}, steps.counter()
for _, head in ipairs(steps.not_undone(heads)) do
  if head.outcome.succeeded and (not before or head.seq < before) then
    copied[#copied + 1] = head
    steps.count(counter, head.seq, head.kind, head.bytes)
  end
end
if counter.bytes > limits.fork_bytes then
  local limit, sent = text(limits.fork_bytes), text(counter.bytes)
  return no.payload_too_large('field', 'before_step', 'limit', limit, 'sent', sent)
end
local lane_id = e.core.lane_id or 'default'
refusal = settings.refusal(e.lane, lane_id, 'execution_id')
if refusal then
  return refusal
end

local policy_json = e.core.has_policy and call('GET', keys.of(source_id, 'policy'))
local timeouts = policy.read(policy_json).timeout_policy
local tags = tag.all(source_id, e.core.tags)
local namespace, priority = e.core.namespace or 'default', e.core.priority or 0
local group = create.group(namespace, lane_id, e.core.kind, content_type, priority, policy_json, now())
local answer = create.one(group, id, payload, digest, tags, 1, #tags, {
  deadline_in_ms = timeouts.execution_deadline_ms,
  attempt_timeout_ms = timeouts.attempt_timeout_ms,
  traceparent = e.core.traceparent,
  tracestate = e.core.tracestate,
})
if answer then
  return answer
end
create.write(group)
call('HSET', core, 'forked_from', source_id .. ' ' .. text(#copied))
if copied[1] then
  call('HSET', core, 'steps', steps.counted(counter))
  steps.copy(source_id, id, copied)
end
return ok(id, text(#copied))
