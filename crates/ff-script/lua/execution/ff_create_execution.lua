--- Creates an execution, or finds the one already created under the same idempotency key or id.
---
--- key  core                  hash
--- arg  namespace             text
--- arg  lane_id               text
--- arg  kind                  text
--- arg  payload               bytes
--- arg  digest                bytes   stands for the payload where only equality matters
--- arg  content_type          text?   absent when it is JSON
--- arg  priority              int
--- arg  idempotency_key       text?
--- arg  dedup_window_ms       int     how long the key is remembered
--- arg  start_in_ms           int?    after a while, or
--- arg  start_at              int?    at a moment; at once when neither is said
--- arg  deadline_in_ms        int?
--- arg  attempt_timeout_ms    int?
--- arg  policy_json           text?   JSON, absent when it is the default one; fields it leaves out are the default's
--- arg  traceparent           text?   the submitter's trace, when there is one
--- arg  tracestate            text?
--- arg  tags                  list    key, value, key, value
---
--- ok   execution_id
--- ok   public_state
--- no   idempotency_conflict
--- no   not_runnable
--- no   invalid_policy_json
--- no   invalid_args

if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
end
local refusal = policy_json and policy_refusal(policy_json)
if refusal then
  return refusal
end
local moment = now()
local id = keys.id(core)
local existing = idempotency_key and submission.found_by_key(namespace, idempotency_key, moment)
local lane = record.lane(namespace, lane_id)
refusal = not existing and settings.refusal(lane, lane_id, 'lane')
if refusal then
  existing = record.find(id)
  if not existing then
    return refusal
  end
end
-- Every execution has a payload, if only an empty one, so one command both looks for it and writes it.
if not existing and not call('SET', keys.of(id, 'payload'), payload, 'NX') then
  existing = record.find(id)
end
if existing then
  return submission.again(existing, namespace, kind, digest, idempotency_key)
end

local until_ms, kept_ms = phase.start(start_in_ms, start_at, moment), settings.kept_ms(lane)
local state = until_ms > moment and 'delayed' or 'waiting'
local deadline_at = deadline_in_ms and moment + deadline_in_ms
local fields = { 'public_state', state, 'kind', kind, 'created_at', moment, 'digest', digest }
append(fields, 'namespace', namespace ~= 'default' and namespace)
append(fields, 'lane_id', lane_id ~= 'default' and lane_id)
append(fields, 'idempotency_key', idempotency_key)
if priority > 0 or content_type or deadline_at or attempt_timeout_ms or policy_json or tags[1] or kept_ms
  or traceparent
then
  append(fields, 'rare', '1')
  append(fields, 'priority', priority > 0 and priority)
  append(fields, 'content_type', content_type)
  append(fields, 'deadline_at', deadline_at)
  append(fields, 'attempt_timeout_ms', attempt_timeout_ms)
  append(fields, 'has_policy', policy_json and '1')
  append(fields, 'has_tags', tags[1] and '1')
  append(fields, 'lane_retention_ms', kept_ms)
  append(fields, 'traceparent', traceparent)
  append(fields, 'tracestate', tracestate)
end
if state == 'delayed' then
  append(fields, 'delayed_until', until_ms)
  append(fields, 'delayed_why', 'submitted')
end
call('HSET', core, unpack(fields))
if policy_json then
  call('SET', keys.of(id, 'policy'), policy_json)
end
if tags[1] then
  call('HSET', keys.of(id, 'tags'), unpack(tags))
end
if idempotency_key then
  remember(keys.idempotency(namespace, idempotency_key), id, dedup_window_ms)
end

index.create(namespace, moment, id)
index.restate(namespace, 'none', state, moment, id)
for nth = 1, #tags, 2 do
  index.label(namespace, tags[nth], tags[nth + 1], moment, id)
end
index.bound(deadline_at, id)
if state == 'waiting' then
  index.wait(lane, kind, priority, moment, id)
else
  index.delay(lane, until_ms, id)
end
event_feed.plainly(id, lane, kind, 'event', 'submitted')
return ok(id, state)
