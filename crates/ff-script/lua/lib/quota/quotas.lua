--- The quota policies of namespaces, as this partition knows them, and the needs of executions. Hardly any namespace has a policy. That is
--- cached as well, so that plain work pays nothing for it.
---
--- The need of an execution is one text: id, revision and key of each policy with spaces between, and a tab between two policies. A key may
--- have a space, and has no tab.

local quotas = {}

--- Splits a scope or a key into its word and the rest.
local function parts(text)
  local word, rest = text:match('^(%a+):(.*)$')
  return word or text, rest
end

local function policy_of(name, policy)
  local scope, of = parts(policy.scope)
  local tag, value
  if scope == 'tag' then
    tag, value = of:match('^(.-)=(.*)$')
  end
  local per, by = nil, nil
  if policy.per then
    per, by = parts(policy.per)
  end
  local head = policy.id .. ' ' .. text(policy.revision) .. ' '
  return { name = name, scope = scope, of = of, tag = tag, value = value, per = per, by = by, head = head }
end

--- Parses policies: in the order of their names, then budgets. Notes whether any of them looks at tags, or suspends.
local function read(kept)
  local set, list, looks_at_tags, suspends = cjson.decode(kept), {}, false, false
  for name, policy in pairs(set.policies) do
    local one = policy_of(name, policy)
    list[#list + 1] = one
    looks_at_tags = looks_at_tags or one.scope == 'tag' or one.per == 'tag'
  end
  for name, budget in pairs(set.budgets or {}) do
    local one = policy_of(name, { id = budget.id, revision = budget.revision, scope = budget.definition.scope })
    one.budget_id, one.suspends = budget.id, budget.definition.on_hard_limit == 'suspend'
    list[#list + 1] = one
    looks_at_tags, suspends = looks_at_tags or one.scope == 'tag', suspends or one.suspends
  end
  table.sort(list, function(a, b)
    if not a.budget_id ~= not b.budget_id then
      return not a.budget_id
    end
    return a.name < b.name
  end)
  return list[1] and { namespace = set.namespace, list = list, looks_at_tags = looks_at_tags, suspends = suspends } or false
end

--- Returns the policies of a lane's namespace, or nil.
function quotas.of(lane)
  local memory, namespace = here.memory, lane:match('^(.-)/') or 'default'
  local known = memory.quotas[namespace]
  if known == nil then
    if memory.quoted >= limits.queues_remembered then
      memory.quotas, memory.quoted = {}, 0
    end
    local kept = call('GET', keys.quotas(namespace))
    known = kept and read(kept) or false
    memory.quotas[namespace], memory.quoted = known, memory.quoted + 1
  end
  return known or nil
end

local function tags_of(id, field)
  local flat, tags = tag.all(id, field), {}
  for nth = 1, #flat, 2 do
    tags[flat[nth]] = flat[nth + 1]
  end
  return tags
end

local function takes_in(policy, e)
  if policy.scope == 'lane' then
    return policy.of == e.lane_id
  elseif policy.scope == 'kind' then
    return policy.of == e.kind
  elseif policy.scope == 'execution' then
    return policy.of == e.id
  elseif policy.scope == 'flow' then
    return policy.of == e.flow_id
  end
  return policy.scope == 'namespace' or e.tags[policy.tag] == policy.value
end

local function key_of(policy, e)
  if policy.budget_id or policy.per == 'kind' then
    return e.kind
  elseif policy.per == 'tag' then
    return e.tags[policy.by]
  end
  return policy.per and e.namespace or ''
end

--- Returns the need of an execution, empty if no policy applies to it. After a suspension because of a budget that was resolved, budgets
--- that suspend let the execution go on, whether or not they have room.
local function needed(set, e)
  local slots = {}
  for _, policy in ipairs(set and set.list or {}) do
    local applies = takes_in(policy, e) and not (policy.suspends and e.is_answered)
    local key = applies and key_of(policy, e)
    slots[#slots + 1] = key and policy.head .. key or nil
  end
  return table.concat(slots, '\t')
end

--- Returns true if the last suspension of an execution was because of a budget, and the execution may go on.
local function is_answered(id)
  local paused, how = unpack(call('HMGET', keys.of(id, 'suspension:last'), 'paused_by_budget', 'how'))
  return paused and how ~= 'execution_ended'
end

--- Returns the facts of an execution that policies look at, or nil if it does not exist or does not wait.
local function look(set, id)
  local kind, flow_id, last_attempt, tags, state, blocked_on, lane_id, namespace, priority, created_at, class, fair_key = unpack(call(
    'HMGET', keys.of(id, 'core'), 'kind', 'flow_id', 'last_attempt', 'tags', 'public_state', 'blocked_on', 'lane_id',
    'namespace', 'priority', 'created_at', 'class', 'fair_key'
  ))
  if state ~= 'waiting' or blocked_on and blocked_on ~= 'assignment' then
    return nil
  end
  local assigned_to, expires_at
  if blocked_on then
    assigned_to, expires_at = claim_grant.holder(id)
    class, fair_key = claim_grant.class(assigned_to), nil
  end
  return {
    assigned_to = assigned_to,
    expires_at = expires_at,
    id = id,
    kind = kind,
    flow_id = flow_id or nil,
    lane_id = lane_id or 'default',
    class = class or nil,
    fair_key = fair_key or nil,
    namespace = namespace or 'default',
    epoch = last_attempt and text(lease.attempt_parts(last_attempt) + 1) or '1',
    score = index.score(tonumber(priority or 0), tonumber(created_at)),
    tags = set and set.looks_at_tags and tags_of(id, tags) or {},
    is_answered = set and set.suspends and is_answered(id),
  }
end

--- Returns the budgets that an execution is charged to.
function quotas.budgets(e)
  local set, budgets, core = quotas.of(e.lane), {}, e.core
  local looked_at = { id = e.id, kind = core.kind, flow_id = core.flow_id, lane_id = core.lane_id or 'default' }
  looked_at.tags = set and set.looks_at_tags and tags_of(e.id, core.tags) or {}
  for _, policy in ipairs(set and set.list or {}) do
    if policy.budget_id and takes_in(policy, looked_at) then
      budgets[#budgets + 1] = policy.budget_id
    end
  end
  return budgets
end

--- Checks an execution that a claim comes to. Returns nil and a request if it must be admitted first: its id, the epoch of the next lease,
--- and its need. Otherwise returns false; the third result is true if it ended because its flow is cancelled.
function quotas.ask(set, id)
  local e = look(set, id)
  local slots = e and needed(set, e) or ''
  if slots == '' then
    return false
  elseif claim.is_over(id, e.flow_id) then
    return false, nil, true
  end
  return nil, { id, e.epoch, slots }
end

--- Returns the admitted executions that still wait with the same epoch and need, as ids and scores in turn; then by id their slots, class
--- and key. An execution that was assigned meanwhile is only taken by its instance.
function quotas.admitted(set, lane, admitted, instance, moment)
  local waiting, slots, class_of, key_of = {}, {}, {}, {}
  for nth = 1, #admitted, 3 do
    local id = admitted[nth]
    local e = look(set, id)
    local here_still = e and record.lane(e.namespace, e.lane_id) == lane and e.epoch == admitted[nth + 1]
    local is_free = e and (not e.assigned_to or e.assigned_to == instance and moment < e.expires_at)
    if here_still and is_free and needed(set, e) == admitted[nth + 2] then
      waiting[#waiting + 1], waiting[#waiting + 2] = id, e.score
      slots[id], class_of[id] = admitted[nth + 2] ~= '' and admitted[nth + 2] or nil, e.class
      key_of[id] = e.fair_key
    end
  end
  return waiting, slots, class_of, key_of
end

return quotas
