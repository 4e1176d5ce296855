--- Releases the lease until a condition is met. Early signals to pending waitpoints are evaluated first; if they meet the condition, the
--- holder keeps its lease. A repeated call with the same key, or with the fence it released, gets the first answer.
---
--- Stored values are read from the record and not taken from keys. A caller that does not know its lane may send the placeholder. A further
--- waitpoint without a token is a pending one.
---
--- key  exec_core                      hash
--- key  attempt_record                 hash
--- key  lease_current                  hash
--- key  lease_history                  list
--- key  lease_expiry                   zset
--- key  worker_leases                  set
--- key  suspension_current             hash
--- key  waitpoint                      hash
--- key  waitpoint_signals              list
--- key  suspension_timeout             zset
--- key  pending_waitpoint_expiry       zset
--- key  lane_active                    zset
--- key  lane_suspended                 zset
--- key  waitpoints                     set
--- key  waitpoint_condition            hash
--- key  attempt_timeout                zset
--- key  waitpoint_hmac_secrets         hash
--- key+ suspend_dedup                  hash
--- arg  execution_id                   text
--- arg  attempt_index                  int?
--- arg  attempt_id                     uuid?
--- arg  lease_id                       uuid?
--- arg  lease_epoch                    int?
--- arg  suspension_id                  uuid
--- arg  waitpoint_id                   uuid
--- arg  waitpoint_key                  bytes
--- arg  reason_code                    text
--- arg  requested_by                   text
--- arg  timeout_at                     int?
--- arg  resume_condition_json          text
--- arg  resume_policy_json             text?
--- arg  continuation_metadata_pointer  bytes
--- arg  use_pending_waitpoint          flag
--- arg  timeout_behavior               text
--- arg  lease_history_maxlen           int?
--- arg+ waitpoint_token                text?     signed here when a new waitpoint has none
--- arg+ timeout_in_ms                  int?      overrides the absolute time
--- arg+ idempotency_key                text?
--- arg+ dedup_ttl_ms                   int?      how long the key is remembered
--- arg+ further                        triples   id, key and token of each further waitpoint
--- arg+ has_continuation               flag      set when the pointer is given and empty
--- arg+ secret_mark                    text?     of the secret the tokens are signed under
---
--- ok   suspension_id
--- ok   waitpoint_id
--- ok   waitpoint_key
--- ok   waitpoint_token
--- ok   n_extra         number of further waitpoints, then id, key and token of each; then the signals, if they satisfy it already
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   fence_required
--- no   partial_fence_triple
--- no   waitpoint_token_required
--- no   additional_waitpoint_binding_malformed
--- no   hmac_secret_not_initialized
--- no   waitpoint_not_found
--- no   waitpoint_not_pending
--- no   waitpoint_already_exists
--- no   pending_waitpoint_expired
--- no   invalid_waitpoint_key
--- no   invalid_input
--- no   invalid_json
--- no   invalid_policy_json
--- no   invalid_args
--- flag allow-oom                                a full server must still be able to give work back

local asked = {
  attempt = lease_epoch and attempt_id and lease.attempt_text(text(lease_epoch), attempt_id),
  bindings = binding.all(waitpoint_id, waitpoint_key, waitpoint_token, use_pending_waitpoint, further),
}
local refusal = fence(lease_id, lease_epoch, attempt_id)
  or binding.refusal(asked.bindings)
  or suspend.refusal(reason_code, requested_by, timeout_behavior, resume_condition_json, resume_policy_json)
if refusal then
  return refusal
end
local moment, id = now(), keys.id(exec_core)
local before = idempotency_key and suspend.under_key(id, idempotency_key, moment)
if before then
  return before
end
local e, refused, ended, former = lease.held(id, lease_id, asked.attempt, moment)
if not e then
  return ended == 'suspended' and suspend.again(former) or refused
end
before = suspend.satisfied_before(e, asked.bindings)
if before then
  return before
elseif not timeout_in_ms and timeout_at and timeout_at <= moment then
  local detail = 'must lie ahead: it is ' .. text(moment) .. ', got ' .. text(timeout_at)
  return no.invalid_input('field', 'timeout_at', 'detail', detail)
end
refusal = binding.unusable(e, asked.bindings, secret_mark, moment)
if refusal then
  return refusal
end

local continues = has_continuation or continuation_metadata_pointer ~= ''
local kept = {
  suspension_id = suspension_id,
  suspended_at = moment,
  reason_code = reason_code,
  requested_by = requested_by,
  waitpoints = suspension.bound_text(asked.bindings),
  condition = resume_condition_json,
  policy = resume_policy_json,
  timeout_at = timeout_in_ms and moment + timeout_in_ms or timeout_at,
  timeout_behavior = timeout_behavior,
  continuation = continues and continuation_metadata_pointer or nil,
}
return suspend.begin(e, kept, asked.bindings, idempotency_key, dedup_ttl_ms or limits.suspend_dedup_ms, moment)
