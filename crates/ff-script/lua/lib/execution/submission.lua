--- Repeated submissions.

local submission = {}

--- Returns the execution of an idempotency key, while the key is remembered.
function submission.found_by_key(namespace, key, moment)
  local id = call('GET', keys.idempotency(namespace, key))
  local e = id and record.load(id)
  if e and moment < e.core.created_at + policy.of(e).dedup_window_ms then
    return e
  end
end

local function conflict(field, detail)
  return no.idempotency_conflict('field', field, 'detail', 'was used before ' .. detail)
end

--- Returns the answer when the same key or id was used before: the same work is a duplicate, other work a conflict.
function submission.again(e, namespace, kind, digest, idempotency_key)
  local before = e.core
  -- An id answered under a key that is not stored would make the next submission of that key another execution.
  if before.idempotency_key ~= idempotency_key then
    return conflict('uuid', 'under another idempotency key')
  end
  local field = idempotency_key and 'idempotency_key' or 'uuid'
  if (before.namespace or 'default') ~= namespace then
    return conflict(field, 'in another namespace')
  elseif before.kind ~= kind then
    return conflict(field, 'for another kind')
  elseif before.digest ~= digest then
    return conflict(field, 'with another payload')
  end
  return { 1, 'DUPLICATE', e.id, before.public_state }
end

return submission
