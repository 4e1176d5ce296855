--- Members of a flow: adds them, records them in the flow, and forgets them.

local member = {}

--- Returns the members after a given one, ordered by id.
function member.after(flow_id, after, most)
  local from = after and '(m' .. keys.uuid(after) or '[m'
  local ids = call('ZRANGE', keys.flow(flow_id, 'graph'), from, '(n', 'BYLEX', 'LIMIT', 0, most)
  for nth, entry in ipairs(ids) do
    ids[nth] = keys.execution(entry:sub(2))
  end
  return ids
end

--- Returns the refusal of a member that exceeds the number of members or of payload bytes.
local function over(flow)
  local core = flow.core
  if core.nodes > limits.flow_nodes then
    return no.limit_exceeded('field', 'nodes', 'limit', text(limits.flow_nodes), 'sent', text(core.nodes))
  elseif core.payload_bytes > limits.flow_bytes then
    return no.payload_too_large('field', 'nodes', 'limit', text(limits.flow_bytes), 'sent', text(core.payload_bytes))
  end
end

--- Returns the record of a new member, as names and values.
local function fields_of(flow, node, state, moment)
  local fields = { 'public_state', state, 'kind', node.kind, 'created_at', moment, 'digest', node.digest }
  local namespace = flow.core.namespace
  append(fields, 'flow_id', flow.id)
  append(fields, 'node', node.name)
  append(fields, 'position', flow.core.nodes)
  append(fields, 'payload_bytes', #node.payload)
  append(fields, 'namespace', namespace ~= 'default' and namespace)
  append(fields, 'lane_id', node.lane_id ~= 'default' and node.lane_id)
  append(fields, 'priority', node.priority > 0 and node.priority)
  append(fields, 'content_type', node.content_type)
  append(fields, 'deadline_at', node.deadline_in_ms and moment + node.deadline_in_ms)
  append(fields, 'attempt_timeout_ms', node.attempt_timeout_ms)
  append(fields, 'has_policy', node.policy_json and '1')
  append(fields, 'tags', tag.text(node.tags, 1, #node.tags))
  local lane = record.lane(namespace, node.lane_id)
  append(fields, 'lane_retention_ms', settings.retention_ms(lane))
  append(fields, 'fair_key', turns.key_of(lane, namespace, node.kind, node.tags, 1, #node.tags))
  append(fields, 'class', policy.class(node.policy_json))
  append(fields, 'traceparent', flow.core.traceparent)
  append(fields, 'tracestate', flow.core.tracestate)
  return fields
end

--- Returns how long a new member is to be kept after its end.
local function retention_ms(e)
  local json = e.node.policy_json
  local own = json and json:find('"retention_ms"', 1, true) and cjson.decode(json).retention_ms
  return own and own ~= cjson.null and own or e.core.lane_retention_ms or limits.retention_ms
end

--- Adds a member. A staged member, or one that edges enter, is blocked; any other waits at once. Returns the refusal if it exceeds a limit.
function member.add(flow, node, entered, moment)
  local until_ms = phase.start(node.start_in_ms, node.start_at, moment)
  local is_later = until_ms > moment
  local is_staged = flow.core.staging_parts
  local state = (is_staged or entered) and 'waiting_children' or is_later and 'delayed' or 'waiting'
  local fields = fields_of(flow, node, state, moment)
  append(fields, 'blocked_on', is_staged and 'staging')
  append(fields, 'blocked_until', state == 'waiting_children' and is_later and until_ms)
  append(fields, 'delayed_until', state == 'delayed' and until_ms)
  append(fields, 'delayed_why', state == 'delayed' and 'submitted')
  local e = record.new(node.id, record.lane(flow.core.namespace, node.lane_id), fields)
  e.node, e.dependents = node, 0
  flow_record.put(flow, 'nodes', flow.core.nodes + 1)
  flow_record.put(flow, 'payload_bytes', flow.core.payload_bytes + #node.payload)
  flow_record.put(flow, 'retention_ms', math.max(flow.core.retention_ms or 0, retention_ms(e)))
  if node.join.variant ~= 'all_of' then
    step.begin_group(group.new(flow.id, node.id, node.join))
  end
  flow.added = flow.added or {}
  flow.added[#flow.added + 1] = node.id
  event_feed.to(e, 'submitted')
  step.write(e)
  return over(flow)
end

local function write_new(e)
  local node = e.node
  call('SET', keys.of(e.id, 'payload'), node.payload)
  if node.policy_json then
    call('SET', keys.of(e.id, 'policy'), node.policy_json)
  end
  if node.tags[1] then
    call('HSET', keys.of(e.id, 'tags'), unpack(node.tags))
  end
end

--- Writes the state of a member into its flow, and the payload, policy and tags of a new member.
function member.write(e)
  local core = e.core
  local state, outcome = core.public_state, core.terminal_outcome
  if state == e.shown then
    return
  end
  local key, more = keys.flow(core.flow_id, 'member:' .. e.id), {}
  if e.node then
    write_new(e)
    append(more, 'node', core.node)
    append(more, 'position', core.position)
  end
  append(more, 'outcome', outcome)
  call('HSET', key, 'state', state, unpack(more))
  if e.shown_outcome and not outcome then
    call('HDEL', key, 'outcome')
  end
end

--- Writes the added members into the lists of their flow.
function member.write_added(flow)
  local entries = {}
  for nth, id in ipairs(flow.added) do
    entries[2 * nth - 1], entries[2 * nth] = 0, 'm' .. keys.uuid(id)
  end
  call('SADD', keys.flow(flow.id, 'members'), unpack(flow.added))
  call('RPUSH', keys.flow(flow.id, 'nodes'), unpack(flow.added))
  call('ZADD', keys.flow(flow.id, 'graph'), unpack(entries))
end

local STAGED = { 'core', 'payload', 'policy', 'tags' }
local DEPENDENCIES = { 'deps:meta', 'deps:unresolved', 'deps:all_edges', 'deps:inputs' }
local OF_FLOW = { 'member:', 'in:', 'out:', 'edgegroup:' }

--- Forgets edges into a member, at most `most`, and returns their number.
local function forget_edges(flow_id, id, most)
  local page, gone, entries = edge.entering(flow_id, id, nil, most), {}, {}
  for _, one in ipairs(page) do
    gone[#gone + 1] = keys.flow(flow_id, 'edge:' .. one.id)
    gone[#gone + 1] = keys.dep_edge(id, one.id)
    entries[#entries + 1] = 'e' .. one.id
    entries[#entries + 1] = 'i' .. keys.uuid(id) .. '/' .. one.id .. '/' .. keys.uuid(one.upstream)
  end
  if gone[1] then
    call('UNLINK', unpack(gone))
    call('ZREM', keys.flow(flow_id, 'graph'), unpack(entries))
  end
  return #page
end

--- Forgets a member. A staged member has few keys; one that ran (`e`) may have many.
local function forget_one(flow_id, id, e)
  local gone = {}
  for _, what in ipairs(DEPENDENCIES) do
    gone[#gone + 1] = keys.of(id, what)
  end
  for _, what in ipairs(OF_FLOW) do
    gone[#gone + 1] = keys.flow(flow_id, what .. id)
  end
  if e then
    forget.execution(e)
  else
    for _, what in ipairs(STAGED) do
      gone[#gone + 1] = keys.of(id, what)
    end
  end
  call('UNLINK', unpack(gone))
end

--- Returns how many of these members may be forgotten now. Together they have no more records than one step may forget, unless the first
--- alone does, and none of them has pending work.
function member.forgettable(ids)
  local records = 0
  for nth, id in ipairs(ids) do
    local e = record.find(id)
    records = records + (e and forget.records(e) or 0)
    if e and (e.pending_propagation or step.meta(id).siblings_since) or records > limits.forget and nth > 1 then
      return nth - 1
    end
  end
  return #ids
end

--- Forgets `count` members of an abandoned or expired flow, with the edges into them, and returns how many are gone. A member with many
--- edges may take several steps.
function member.forget_all(flow, ids, count)
  local left = 2 * limits.flow_step
  for nth = 1, count do
    local id = ids[nth]
    left = left - forget_edges(flow.id, id, left)
    if left == 0 then
      return nth - 1
    end
    forget_one(flow.id, id, flow.core.sweep_action == 'forget' and record.find(id))
    step.drop(id)
  end
  return count
end

return member
