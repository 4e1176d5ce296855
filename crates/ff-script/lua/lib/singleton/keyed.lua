--- Submissions under a singleton or debounce key.

local keyed = {}

--- Returns the answer when the same id was used before.
function keyed.again(e, group, digest)
  local answer = submission.again(e, group.namespace, group.kind, digest, nil)
  if answer[1] == 1 then
    answer[5] = ''
  end
  return answer
end

--- Returns true if no worker has held the execution since its submission or last replay, and only time and admission delay it.
function keyed.has_not_started(e)
  return not e.core.started_at and (phase.is_ready(e) or e.core.public_state == 'delayed')
end

--- Cancels an execution because another one replaces it.
function keyed.replace(e, id, moment)
  local ending = { outcome = 'cancelled', state = 'cancelled', by = 'cancel', lease = 'cancelled', attempt = 'cancelled' }
  ending.reason = 'replaced by ' .. id
  finish(e, ending, moment)
  record.save(e)
end

local function differs(e, what)
  local detail = 'is the key of ' .. e.id .. ', which has another ' .. what
  return no.idempotency_conflict('field', 'debounce.key', 'detail', detail)
end

--- Gives an execution the payload of another submission of its key, and moves its start.
function keyed.debounce(e, group, id, payload, digest, content_type, debounce_ms)
  if e.core.kind ~= group.kind then
    return differs(e, 'kind')
  elseif e.lane ~= group.lane then
    return differs(e, 'lane')
  end
  local moment = group.moment
  local until_ms = math.min(moment + debounce_ms, e.core.latest_start)
  if until_ms > moment then
    local was_delayed = e.core.public_state == 'delayed'
    phase.delayed(e, until_ms, 'submitted', moment)
    event_feed.to(e, 'delayed', 'until', text(until_ms))
    if was_delayed then
      index.delay(e.lane, until_ms, e.id)
    end
  end
  record.put(e, 'digest', digest)
  record.put(e, 'debounced_by', keys.uuid(id))
  if content_type then
    record.put(e, 'content_type', content_type)
  else
    record.drop(e, 'content_type')
  end
  call('SET', keys.of(e.id, 'payload'), payload)
  record.save(e)
  return ok(e.id, e.core.public_state, 'replaced')
end

--- Fields of a record that few executions have.
local FEW = {
  'queue_key', 'deadline_at', 'attempt_timeout_ms', 'traceparent', 'tracestate', 'debounced_by', 'latest_start',
}

--- Creates an execution. `more` holds the fields that few executions have.
function keyed.create(group, id, payload, digest, tags, more, until_ms)
  local fields, moment = { unpack(group.fields, 1, group.count) }, group.moment
  fields[8] = digest
  append(fields, 'tags', tag.text(tags, 1, #tags))
  append(fields, 'fair_key', turns.key_of(group.lane, group.namespace, group.kind, tags, 1, #tags))
  for nth = 1, #FEW do
    append(fields, FEW[nth], more[FEW[nth]])
  end
  local e = record.new(id, group.lane, fields)
  e.core.created_at = moment
  call('SET', keys.of(id, 'payload'), payload)
  if group.policy_json then
    call('SET', keys.of(id, 'policy'), group.policy_json)
  end
  if tags[1] then
    call('HSET', keys.of(id, 'tags'), unpack(tags))
  end
  phase.delayed(e, until_ms, 'submitted', moment)
  event_feed.to(e, 'submitted')
  key_queue.join(e, moment)
  record.save(e)
  return e
end

return keyed
