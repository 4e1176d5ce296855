--- Adds members and edges to a flow. Each refusal names the field it is about.

local graph = {}

--- Returns true if any of several keys exists.
local function any_kept(names)
  return names[1] ~= nil and call('EXISTS', unpack(names)) > 0
end

--- Adds members, and returns the first refusal. `entered` holds the members that edges enter. Work added `from_within` continues existing
--- work, so a draining lane accepts it.
function graph.add_nodes(flow, nodes, entered, from_within, moment)
  local names = {}
  for nth, node in ipairs(nodes) do
    names[nth] = keys.of(node.id, 'core')
  end
  local some = any_kept(names)
  for _, node in ipairs(nodes) do
    local lane, field = record.lane(flow.core.namespace, node.lane_id), 'nodes.' .. node.name .. '.lane'
    local class = policy.class(node.policy_json)
    local closed = not from_within and settings.refusal(lane, node.lane_id, field)
      or class and settings.class_refusal(lane, node.lane_id, class)
    if closed then
      return closed
    elseif step.known(node.id) or some and record.find(node.id) then
      local detail = 'is a member of the flow already'
      return no.execution_already_in_flow('field', 'nodes.' .. node.name, 'detail', detail)
    end
    local refusal = member.add(flow, node, entered[node.id], moment)
    if refusal then
      return refusal
    end
  end
end

--- Returns a member of a flow; otherwise nil and the refusal. A member of another flow gets the same answer as a missing one, because it
--- may belong to another tenant.
function graph.member(flow, id, field)
  local e = record.find(id)
  if not e or e.core.flow_id ~= flow.id then
    local detail = 'must name a node of the flow'
    return nil, no.execution_not_in_flow('field', field, 'detail', detail)
  end
  return e
end

local IDLE = { waiting = true, delayed = true, rate_limited = true, waiting_children = true }

--- Returns true if no attempt was made since submission or the last replay, so that the execution may still wait for more upstreams.
local function has_not_started(core)
  local next = core.next_attempt
  return IDLE[core.public_state] and (next == nil and not core.current_attempt_index or next == 'replay')
end

--- Returns the refusal of an edge of a live flow that enters a started member or closes a cycle.
local function live_refusal(flow, one, downstream, held, search)
  local field, state = 'edges.' .. one.name, downstream.core.public_state
  if not held and not has_not_started(downstream.core) then
    local detail = 'enters a node that has started, and is ' .. state
    return no.not_runnable('field', field, 'state', state, 'detail', detail)
  end
  return cycle.refusal(flow, one, field, search)
end

local function over(field, limit, sent)
  if sent > limit then
    return no.limit_exceeded('field', field, 'limit', text(limit), 'sent', text(sent))
  end
end

--- A node has one payload, so at most one edge may supply it.
local SECOND_PAYLOAD =
  'passes payload, as another edge into the same node does; one edge may, and the others pass {input: NAME}'

--- Adds an edge to the graph and to its join. Returns the refusal if there are too many edges, or if two pass the payload.
local function enter(flow, one, upstream, held)
  local joined = step.group(flow.id, one.downstream)
  if not joined then
    joined = group.new(flow.id, one.downstream, { variant = 'all_of' })
    step.begin_group(joined)
  end
  if held and (joined.round == 0 or joined.group_state ~= 'pending') then
    group.begin_round(joined)
  end
  local field = 'edges.' .. one.name
  if one.passes == 'payload' and joined.passes_payload then
    return no.invalid_input('field', field, 'detail', SECOND_PAYLOAD)
  end
  -- A join whose member has not started becomes undecided when an edge is added.
  joined.group_state, joined.satisfied_at = 'pending', nil
  group.enter(joined, one)
  flow_record.put(flow, 'edges', flow.core.edges + 1)
  upstream.dependents = step.dependents(upstream) + 1
  one.flow_id, one.round, one.state, one.is_new = flow.id, joined.round, 'pending', true
  step.begin_edge(one)
  step.account(upstream)
  return over('edges', limits.flow_edges, flow.core.edges)
    or over(field .. '.downstream', limits.node_edges, joined.n)
    or over(field .. '.upstream', limits.node_edges, upstream.dependents)
end

--- Adds an edge, or returns the refusal. `live` means that the flow runs: the edge may close a cycle or enter a started member.
--- `live.holder` is a running member that waits for its children. Without `live`, edges go from earlier members to later ones, and nothing
--- runs yet.
local function add_edge(flow, one, some, live)
  local field = 'edges.' .. one.name
  if one.upstream == one.downstream then
    return no.self_referencing_edge('field', field, 'detail', 'must enter another node than it leaves')
  end
  local upstream, refusal = graph.member(flow, one.upstream, field)
  if not upstream then
    return refusal
  end
  local downstream
  downstream, refusal = graph.member(flow, one.downstream, field)
  if not downstream then
    return refusal
  elseif step.known_edge(one.id) or some and any_kept({ keys.flow(flow.id, 'edge:' .. one.id) }) then
    return no.dependency_already_exists('field', field, 'detail', 'is there already')
  elseif not live and upstream.core.position >= downstream.core.position then
    return no.cycle_detected('field', field, 'detail', 'must go from an earlier node to a later one')
  end
  local held = live and live.holder == one.downstream
  refusal = live and live_refusal(flow, one, downstream, held, live.search)
  return refusal or enter(flow, one, upstream, held)
end

--- Adds edges, and returns the first refusal. Edges from an upstream that has ended are settled at once.
function graph.add_edges(flow, edges, live)
  local names = {}
  for nth, one in ipairs(edges) do
    names[nth] = keys.flow(flow.id, 'edge:' .. one.id)
  end
  local some = any_kept(names)
  for _, one in ipairs(edges) do
    local refusal = add_edge(flow, one, some, live)
    if refusal then
      return refusal
    end
  end
  for _, one in ipairs(edges) do
    local upstream = record.find(one.upstream)
    local outcome = upstream.core.terminal_outcome
    if outcome then
      dependents.count(one, dependents.state_after(outcome), upstream)
    end
  end
end

--- Returns the members that edges enter.
function graph.entered(edges)
  local entered = {}
  for _, one in ipairs(edges) do
    entered[one.downstream] = true
  end
  return entered
end

--- Sets how the edges into a member join, or returns the refusal. A join that has edges cannot change.
function graph.set_join(flow, spec, holder)
  local field = 'joins.' .. spec.name
  local e, refusal = graph.member(flow, spec.id, field)
  if not e then
    return refusal
  end
  local joined = step.group(flow.id, spec.id)
  if not joined then
    joined = group.new(flow.id, spec.id, { variant = 'all_of' })
    step.begin_group(joined)
  end
  if holder == spec.id and (joined.round == 0 or joined.group_state ~= 'pending') then
    group.begin_round(joined)
  end
  if joined.n > 0 and not group.joins(joined, spec.join) then
    local detail = 'must stay as it is: there are edges that join otherwise'
    return no.invalid_input('field', field, 'detail', detail)
  end
  group.join(joined, spec.join)
end

--- Decides a join that got edges, and blocks its member if it must wait for upstreams. Returns the refusal, if any.
local function evaluate(joined, may_be_short, moment)
  local e = record.find(joined.id)
  if not e or may_be_short and joined.n == 0 then
    return nil
  end
  local refusal = group.short_refusal(joined, 'nodes.' .. e.core.node .. '.join')
  if refusal then
    return refusal
  end
  group.evaluate(joined, moment)
  local until_ms = e.core.delayed_until
  if (phase.is_ready(e) or until_ms) and joined.group_state ~= 'satisfied' then
    phase.blocked(e, nil, until_ms, moment)
    step.write(e)
  end
  if joined.group_state ~= 'pending' then
    dependents.fired(joined)
  end
end

--- Decides every join that a change of the graph touched, and returns the first refusal. With `may_be_short`, a join may still be without
--- edges.
function graph.evaluate_all(may_be_short, moment)
  for _, joined in ipairs(step.groups()) do
    local refusal = evaluate(joined, may_be_short, moment)
    if refusal then
      return refusal
    end
  end
end

return graph
