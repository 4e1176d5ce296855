--- Creates an execution under a singleton or debounce key, or resolves the conflict with a live execution of the key.
---
--- key  core                  hash
--- arg  namespace             text
--- arg  lane_id               text
--- arg  kind                  text
--- arg  payload               bytes
--- arg  digest                bytes   of the payload, for comparisons
--- arg  content_type          text?   absent when it is JSON
--- arg  priority              int
--- arg  queue_key             text    `singleton:` or `debounce:` and the key
--- arg  on_conflict           text    skip, replace or debounce; any other word queues it
--- arg  debounce_ms           int?    delay of the start after the last submission
--- arg  debounce_most_ms      int?    longest delay of the start after the first submission
--- arg  start_in_ms           int?    delay of the start
--- arg  start_at              int?    time of the start; at once when both are absent
--- arg  deadline_in_ms        int?
--- arg  attempt_timeout_ms    int?
--- arg  policy_json           text?   JSON, absent for the default policy, which also fills in absent fields
--- arg  traceparent           text?   the submitter's trace, when there is one
--- arg  tracestate            text?
--- arg  tags                  list    key, value, key, value
---
--- ok   execution_id
--- ok   public_state
--- ok   conflict              skipped, replaced or queued; empty when no other execution of the key was live
--- no   idempotency_conflict
--- no   not_runnable
--- no   limit_exceeded
--- no   invalid_policy_json
--- no   invalid_args

local moment, id = now(), keys.id(core)
if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
elseif on_conflict == 'debounce' and not (debounce_ms and debounce_most_ms) then
  return no.invalid_args('field', 'debounce_ms')
end
local group = create.group(namespace, lane_id, kind, content_type, priority, policy_json, moment)
if group.refusal then
  return group.refusal
end
local existing = record.find(id)
if existing then
  -- Another submission may have replaced the payload of a debounced execution.
  return keyed.again(existing, group, on_conflict == 'debounce' and existing.core.digest or digest)
elseif group.closed then
  return group.closed
end

local queue = { namespace = namespace, queue_key = queue_key }
local last = key_queue.last(queue)
local conflict = ''
if last and on_conflict == 'skip' then
  local live = record.find(key_queue.first(queue))
  return { 1, 'DUPLICATE', live.id, live.core.public_state, 'skipped' }
elseif last and on_conflict == 'debounce' then
  if last.core.debounced_by == keys.uuid(id) then
    return { 1, 'DUPLICATE', last.id, last.core.public_state, 'replaced' }
  elseif keyed.has_not_started(last) then
    return keyed.debounce(last, group, id, payload, digest, content_type, debounce_ms)
  end
elseif last then
  conflict = 'queued'
  if on_conflict == 'replace' and keyed.has_not_started(last) then
    conflict = 'replaced'
    keyed.replace(last, id, moment)
  elseif key_queue.is_full(queue) then
    return key_queue.refusal()
  end
end
local more = {
  queue_key = queue_key,
  deadline_at = deadline_in_ms and moment + deadline_in_ms,
  attempt_timeout_ms = attempt_timeout_ms,
  traceparent = traceparent,
  tracestate = tracestate,
  debounced_by = debounce_ms and keys.uuid(id),
  latest_start = debounce_ms and moment + debounce_most_ms,
}
local until_ms = debounce_ms and moment + debounce_ms or phase.start(start_in_ms, start_at, moment)
local e = keyed.create(group, id, payload, digest, tags, more, until_ms)
return ok(id, e.core.public_state, conflict)
