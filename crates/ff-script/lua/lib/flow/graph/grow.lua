--- Grows a live flow: adds members, joins and edges, all of them or none.

local GRACE_MS = 60000

local function answer(revision, members, edges)
  return ok(text(revision), members, edges)
end

--- Returns ids and states as lines, one per edge.
local function lines(edges)
  local list = {}
  for nth = 1, #edges, 2 do
    list[#list + 1] = edges[nth] .. ' ' .. edges[nth + 1]
  end
  return list
end

--- Returns the first answer under an idempotency key, while the key is remembered.
local function under_key(id, key, moment)
  local first = call('HMGET', keys.flow(id, 'grant:' .. key), 'until', 'graph_revision', 'members', 'edges')
  if first[1] and moment < tonumber(first[1]) then
    return answer(first[2], split(first[3] or nil), split(first[4] or nil))
  end
end

--- Remembers the answer under an idempotency key. The stored time decides whether it is still remembered. The expiry only collects garbage,
--- a little later.
local function remember_answer(id, key, revision, members, edges, moment)
  local until_ms, name, all = moment + limits.flow_dedup_ms, keys.flow(id, 'grant:' .. key), keys.flow(id, 'grants')
  local fields = { 'until', until_ms, 'graph_revision', revision }
  append(fields, 'members', members[1] and table.concat(members, ' '))
  append(fields, 'edges', edges[1] and table.concat(lines(edges), '\n'))
  call('DEL', name)
  call('HSET', name, unpack(fields))
  call('ZREMRANGEBYSCORE', all, '-inf', moment)
  call('ZADD', all, until_ms, key)
  if limits.forgets then
    call('PEXPIRE', name, limits.flow_dedup_ms + GRACE_MS)
  end
end

--- Returns the refusal if a member may not grow its flow.
local function holder_refusal(flow, holder, moment)
  local e, refusal = graph.member(flow, holder.id, 'holder')
  if not e then
    return refusal
  end
  local held, refused = lease.held(holder.id, holder.lease_id, holder.attempt, moment)
  return not held and refused or nil
end

local function stale(flow, expected)
  local is = flow.core.graph_revision
  if expected and expected ~= is then
    local detail = 'is ' .. text(expected) .. ', and the graph\'s is ' .. text(is)
    return no.stale_graph_revision('field', 'expected_graph_revision', 'detail', detail)
  end
end

local function set_joins(flow, joins, holder)
  for _, spec in ipairs(joins) do
    local refusal = graph.set_join(flow, spec, holder)
    if refusal then
      return refusal
    end
  end
end

--- Returns the refusal if a flow accepts no changes.
local function ended(flow)
  return (flow.core.cancel_policy or flow.core.ended_at) and flow_record.ended_refusal(flow) or nil
end

return function(id, growth, moment)
  local flow, refusal = flow_record.found(id)
  if not flow then
    return refusal
  end
  local before = growth.key and under_key(id, growth.key, moment)
  if before then
    return before
  end
  local holder = growth.holder
  refusal = ended(flow)
    or holder and holder_refusal(flow, holder, moment)
    or stale(flow, growth.revision)
    or graph.add_nodes(flow, growth.nodes, graph.entered(growth.edges), holder ~= nil, moment)
    or set_joins(flow, growth.joins, holder and holder.id)
    or graph.add_edges(flow, growth.edges, { holder = holder and holder.id, search = cycle.search() })
    or graph.evaluate_all(growth.may_be_short, moment)
  if refusal then
    return refusal
  end
  local revision, members, edges = flow.core.graph_revision + 1, {}, {}
  flow_record.put(flow, 'graph_revision', revision)
  flow_record.add_event(flow, 'grown', 'nodes', #growth.nodes, 'edges', #growth.edges, 'graph_revision', revision)
  for nth, node in ipairs(growth.nodes) do
    members[nth] = node.id
  end
  for nth, one in ipairs(growth.edges) do
    edges[2 * nth - 1], edges[2 * nth] = one.id, one.state
  end
  if growth.key then
    remember_answer(id, growth.key, revision, members, edges, moment)
  end
  return answer(revision, members, edges)
end
