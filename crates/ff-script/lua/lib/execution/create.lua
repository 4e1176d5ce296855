--- Creates executions. New work with the same namespace, lane, kind, payload type, priority and policy forms a group: its common properties
--- are checked once, and its indexes are written together.

local create = {}

--- Starts a group of work created at `moment`. `fields` is the record of a member with an empty digest. Each member overwrites the fields
--- of the previous one.
function create.group(namespace, lane_id, kind, content_type, priority, policy_json, moment)
  local lane, at = record.lane(namespace, lane_id), text(moment)
  local configured = settings.of(lane)
  local refusal = policy_json and policy_refusal(policy_json)
  local class = policy_json and not refusal and policy.class(policy_json) or nil
  local fields = { 'public_state', 'waiting', 'kind', kind, 'created_at', at, 'digest', '' }
  append(fields, 'content_type', content_type)
  append(fields, 'priority', priority > 0 and priority)
  append(fields, 'has_policy', policy_json and '1')
  append(fields, 'lane_id', lane_id ~= 'default' and lane_id)
  append(fields, 'namespace', namespace ~= 'default' and namespace)
  append(fields, 'lane_retention_ms', configured and configured.retention_ms)
  append(fields, 'class', class)
  return {
    namespace = namespace,
    lane = lane,
    kind = kind,
    class = class,
    priority = priority,
    policy_json = policy_json,
    moment = moment,
    at = at,
    refusal = refusal,
    closed = configured and settings.refusal(lane, lane_id, 'lane') or class and settings.class_refusal(lane, lane_id, class),
    fields = fields,
    count = #fields,
    ids = {}, -- members that wait for a worker
  }
end

--- Writes the payload and policy of an unused id, and returns whether it did. The payload may be empty but always exists, so one command
--- both looks for an execution and begins it.
local function begin_writing(id, payload, policy_json)
  if policy_json then
    return call('MSETNX', keys.of(id, 'payload'), payload, keys.of(id, 'policy'), policy_json) == 1
  end
  return call('SET', keys.of(id, 'payload'), payload, 'NX')
end

--- Fields of a record that few executions have.
local FEW = { 'idempotency_key', 'deadline_at', 'attempt_timeout_ms', 'traceparent', 'tracestate' }

--- Adds the fields that few executions have. Returns the new number of items, and the end of the delay if there is one.
local function add_few(group, n, more)
  local fields, moment = group.fields, group.moment
  more.deadline_at = more.deadline_in_ms and moment + more.deadline_in_ms
  for nth = 1, #FEW do
    local value = more[FEW[nth]]
    if value then
      fields[n + 1], fields[n + 2], n = FEW[nth], value, n + 2
    end
  end
  local until_ms = phase.start(more.start_in_ms, more.start_at, moment)
  if until_ms <= moment then
    return n
  end
  fields[2] = 'delayed'
  fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = 'delayed_until', until_ms, 'delayed_why', 'submitted'
  return n + 4, until_ms
end

--- Returns the execution created earlier under the key or id of new work, if any. Otherwise writes the payload, unless the lane refuses it:
--- then the second result is the refusal.
local function begin(group, id, payload, more)
  local key = more.idempotency_key
  local existing = key and submission.found_by_key(group.namespace, key, group.moment)
  if existing then
    return existing
  elseif group.closed then
    existing = record.find(id)
    return existing, not existing and group.closed
  elseif not begin_writing(id, payload, group.policy_json) then
    return record.find(id)
  end
end

local NOTHING = {}

--- Creates one member of a group, or finds the execution already created under the same idempotency key or id. Its tags are keys and values
--- in turn, at positions `first_tag` to `last_tag` of a list. `more` holds the fields that few executions have, by the argument names of
--- `ff_create_execution`; nil if there are none. Returns the answer if nothing was created, otherwise nil and the state.
function create.one(group, id, payload, digest, tags, first_tag, last_tag, more)
  more = more or NOTHING
  if (last_tag - first_tag) % 2 == 0 then
    return no.invalid_args('field', 'tags')
  elseif more.idempotency_key and not more.dedup_window_ms then
    return no.invalid_args('field', 'dedup_window_ms')
  elseif group.refusal then
    return group.refusal
  end
  local existing, refusal = begin(group, id, payload, more)
  if refusal then
    return refusal
  elseif existing then
    return submission.again(existing, group.namespace, group.kind, digest, more.idempotency_key)
  end

  local fields, n, delayed_until = group.fields, group.count, nil
  fields[2], fields[8] = 'waiting', digest
  local fair_key = turns.key_of(group.lane, group.namespace, group.kind, tags, first_tag, last_tag)
  if fair_key then
    fields[n + 1], fields[n + 2], n = 'fair_key', fair_key, n + 2
  end
  local tag_text = tag.text(tags, first_tag, last_tag)
  if tag_text then
    fields[n + 1], fields[n + 2], n = 'tags', tag_text, n + 2
  end
  if more ~= NOTHING then
    n, delayed_until = add_few(group, n, more)
  end
  call('HSET', keys.of(id, 'core'), unpack(fields, 1, n))
  if tag_text then
    call('HSET', keys.of(id, 'tags'), unpack(tags, first_tag, last_tag))
    for nth = first_tag, last_tag, 2 do
      index.tag(group.namespace, tags[nth], tags[nth + 1], group.at, id)
    end
  end
  if more.idempotency_key then
    remember(keys.idempotency(group.namespace, more.idempotency_key), id, more.dedup_window_ms)
  end
  index.bound(more.deadline_at, id)
  if delayed_until then
    index.create(group.namespace, group.at, id)
    index.restate(group.namespace, 'none', 'delayed', group.at, id)
    index.delay(group.lane, delayed_until, id)
  elseif fair_key then
    index.create(group.namespace, group.at, id)
    turns.wait(group.lane, group.kind, group.class, fair_key, group.priority, group.moment, id)
  else
    local ids = group.ids
    ids[#ids + 1] = id
  end
  event_feed.about(id, group.lane, group.kind, nil, 'event', 'submitted')
  return nil, fields[2]
end

--- Writes the indexes of a group.
function create.write(group)
  if group.ids[1] then
    index.wait_all(group.namespace, group.lane, group.kind, group.class, group.priority, group.moment, group.ids)
  end
end

return create
