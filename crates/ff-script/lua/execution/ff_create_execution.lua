--- Creates an execution, or finds the one already created under the same idempotency key or id.
---
--- key  core                  hash
--- arg  namespace             text
--- arg  lane_id               text
--- arg  kind                  text
--- arg  payload               bytes
--- arg  digest                bytes   of the payload, for comparisons
--- arg  content_type          text?   absent when it is JSON
--- arg  priority              int
--- arg  idempotency_key       text?
--- arg  dedup_window_ms       int     how long the key is remembered
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
--- no   idempotency_conflict
--- no   not_runnable
--- no   invalid_policy_json
--- no   invalid_args

local more = {
  idempotency_key = idempotency_key,
  dedup_window_ms = dedup_window_ms,
  start_in_ms = start_in_ms,
  start_at = start_at,
  deadline_in_ms = deadline_in_ms,
  attempt_timeout_ms = attempt_timeout_ms,
  traceparent = traceparent,
  tracestate = tracestate,
}
local group = create.group(namespace, lane_id, kind, content_type, priority, policy_json, now())
local id = keys.id(core)
local answer, state = create.one(group, id, payload, digest, tags, 1, #tags, more)
create.write(group)
return answer or ok(id, state)
