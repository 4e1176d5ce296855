--- One step of a flow: the changes of a call, and their consequences within the flow.
---
--- Every change of a member goes through here, so no way to end one can forget its dependents. A step looks at a bounded number of edges
--- and members, without recursion, and every hop downstream takes one of them. The rest stays pending in the records, for further steps.
--- All changes are made in memory and written at the end.

local step = {}

--- The step under way.
local current

function step.begin()
  current = nil
end

--- Returns the step under way, which begins when it is first needed.
local function under_way()
  current = current
    or {
      budget = limits.flow_step,
      resolved = 0, -- edges that were settled
      cascaded = 0, -- executions that ended because of others
      executions = {}, -- by id
      changed = {}, -- executions to write, in the order they were changed
      flows = {}, -- by id
      groups = {}, -- by the id of their member
      edges = {}, -- by id
      added = { upstream = {}, downstream = {} }, -- new edges, by their ends
      metas = {}, -- dependencies of members, by id
      work = {}, -- work still to do, first in first out
      done = 0, -- how many items of `work` are done
    }
  return current
end

--- Returns an execution this step has read, or nil.
function step.known(id)
  return current and current.executions[id]
end

--- Drops a forgotten execution and its dependencies.
function step.drop(id)
  current.executions[id], current.metas[id] = nil, nil
end

--- Returns true if this call changed an execution and has not written it yet.
function step.is_changed(id)
  local e = step.known(id)
  return e and e.touched
end

--- Keeps an execution as it was read.
function step.keep(e)
  local core = e.core
  under_way().executions[e.id] = e
  e.counted_state, e.shown, e.finished = core.public_state, core.public_state, core.terminal_outcome ~= nil
  e.shown_outcome = core.terminal_outcome
  if core.pending_propagation then
    e.pending_propagation = { what = core.pending_propagation, since = core.propagation_since, after = core.propagation_after }
  end
  e.pending_since = core.propagation_since
  e.failed_leaf = e.finished and core.terminal_outcome ~= 'success' and step.dependents(e) == 0
end

--- Returns how many edges leave a member.
function step.dependents(e)
  e.dependents = e.dependents or call('SCARD', keys.flow(e.core.flow_id, 'out:' .. e.id))
  return e.dependents
end

--- Returns the dependencies of a member.
function step.meta(id)
  local metas = under_way().metas
  if not metas[id] then
    metas[id] = meta.read(id)
  end
  return metas[id]
end

--- Returns a flow, or nil.
function step.flow(id)
  local flows = under_way().flows
  if flows[id] == nil then
    flows[id] = flow_record.read(id) or false
  end
  return flows[id] or nil
end

--- Adds a new flow to the step.
function step.begin_flow(flow)
  under_way().flows[flow.id] = flow
end

--- Returns the edges into a member as a group, or nil.
function step.group(flow_id, id)
  local groups = under_way().groups
  if groups[id] == nil then
    groups[id] = group.read(flow_id, id) or false
  end
  return groups[id] or nil
end

--- Adds a new group to the step.
function step.begin_group(new)
  under_way().groups[new.id] = new
end

--- Returns the groups this step has read, in the order of their members.
function step.groups()
  local list = {}
  for _, one in pairs(under_way().groups) do
    list[#list + 1] = one or nil
  end
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  return list
end

--- Returns an edge with its state. The ends of `found` are known.
function step.edge(found)
  local edges = under_way().edges
  edges[found.id] = edges[found.id] or edge.read(found)
  return edges[found.id]
end

--- Returns an edge this step has read or added, or nil.
function step.known_edge(id)
  return current and current.edges[id]
end

--- Adds a new edge to the step.
function step.begin_edge(new)
  under_way().edges[new.id] = new
  for side, by_end in pairs(current.added) do
    local list = by_end[new[side]] or {}
    by_end[new[side]], list[#list + 1] = list, new
  end
end

--- Returns the edges added by this step that have a member as their upstream or downstream.
function step.added(id, side)
  return under_way().added[side][id] or {}
end

function step.budget()
  return under_way().budget
end

function step.spend(count)
  current.budget = current.budget - count
end

--- Lets several requests share the budget of one step. Each gets at least one edge.
function step.shared_by(count)
  if current then
    current.budget = math.max(current.budget - count + 1, count)
  end
end

function step.resolved()
  current.resolved = current.resolved + 1
end

function step.cascaded()
  current.cascaded = current.cascaded + 1
end

--- Queues work for later in this step, if the budget allows.
function step.later(what, id)
  local work = under_way().work
  work[#work + 1] = { what = what, id = id }
end

--- Queues the pending work of an execution, and returns whether there is any.
function step.owed_by(e)
  local owes_siblings = e.core.flow_id and step.meta(e.id).siblings_since
  if e.pending_propagation then
    step.later('dependents', e.id)
  end
  if owes_siblings then
    step.later('siblings', e.id)
  end
  return e.pending_propagation or owes_siblings
end

--- Marks an execution as changed, to be written at the end.
function step.touch(e)
  if not e.touched then
    local changed = under_way().changed
    changed[#changed + 1], e.touched = e, true
  end
end

local function is_failed_leaf(e)
  local outcome = e.core.terminal_outcome
  return outcome ~= nil and outcome ~= 'success' and step.dependents(e) == 0
end

--- Updates the counts of a flow, and adds an event for a member whose state changed.
function step.account(e)
  local flow, from, to = step.flow(e.core.flow_id), e.counted_state, e.core.public_state
  local has_failed = is_failed_leaf(e)
  if has_failed ~= (e.failed_leaf or false) then
    flow_record.put(flow, 'failed_leaves', (flow.core.failed_leaves or 0) + (has_failed and 1 or -1))
    e.failed_leaf = has_failed
  end
  if from ~= to then
    flow_record.moved(flow, e.id, e.core.node, from, to)
    e.counted_state = to
  end
end

--- Notes that dependents must still be notified of this end.
local function mark_end_pending(e)
  record.drop(e, 'result_bytes')
  record.put_if_given(e, 'result_bytes', e.result_bytes)
  e.pending_propagation = nil
  if step.dependents(e) > 0 then
    e.pending_propagation = { what = 'end', since = here.memory.moment }
    step.later('dependents', e.id)
  end
end

--- Ends a member because its flow was cancelled, or because a join no longer needs it.
function step.cancel(e, by)
  finish(
    e,
    { outcome = 'cancelled', state = 'cancelled', by = by, lease = 'cancelled', attempt = 'cancelled' },
    here.memory.moment
  )
end

--- Adds a change and its consequences in the flow: counts and events, the end of a member that a cancelled flow does not spare, and the
--- pending notification of the dependents of a member that ended.
function step.write(e)
  local flow = step.flow(e.core.flow_id)
  under_way().executions[e.id] = e
  if not e.core.terminal_outcome and not e.lease and not flow_record.spares(flow, e.core, false) then
    step.cancel(e, 'flow_cancel')
  end
  local finished = e.core.terminal_outcome ~= nil
  if finished and not e.finished then
    mark_end_pending(e)
  end
  e.finished = finished
  step.account(e)
  step.touch(e)
end

--- The kinds of work of a step.
local ACTIONS = {
  dependents = function(id)
    dependents.notify(id)
  end,
  siblings = function(id)
    siblings.look_after(id)
  end,
  member_sweep = function(id)
    member_sweep.resume(id)
  end,
}

local function write_owed(e)
  local propagation = e.pending_propagation
  record.drop(e, 'propagation_after')
  if propagation then
    record.put(e, 'pending_propagation', propagation.what)
    record.put(e, 'propagation_since', propagation.since)
    record.put_if_given(e, 'propagation_after', propagation.after)
  else
    record.drop(e, 'pending_propagation')
    record.drop(e, 'propagation_since')
  end
  local since = propagation and propagation.since
  if since and since ~= e.pending_since then
    flow_index.owe('dispatch_backlog', since, e.id)
  elseif not since and e.pending_since then
    flow_index.unowe('dispatch_backlog', e.id)
  end
end

--- Makes the pending siblings of a join due, once its member is no longer staged.
local function owe_siblings_from_now_on(e)
  local joined = step.group(e.core.flow_id, e.id)
  if joined and joined.cancel_siblings_pending then
    step.meta(e.id)
  end
end

local function write_executions()
  if #current.changed > 1 then
    index.collect()
  end
  for _, e in ipairs(current.changed) do
    if e.place == 'staged' and e.core.blocked_on ~= 'staging' then
      owe_siblings_from_now_on(e)
    end
    write_owed(e)
    member.write(e)
    record.write(e)
  end
end

--- Writes everything and ends the step.
local function flush()
  write_executions()
  for id, one in pairs(current.metas) do
    meta.write(id, one)
  end
  edge.write_all(current.edges)
  for _, one in pairs(current.groups) do
    if one then
      group.write(one)
    end
  end
  for _, flow in pairs(current.flows) do
    if flow then
      flow_record.settle(flow)
    end
  end
  current = nil
end

--- Does as much of the queued work as the budget allows, and writes everything. Returns how many edges were settled, and how many
--- executions ended because of others.
function step.run()
  if not current then
    return 0, 0
  end
  while current.budget > 0 and current.done < #current.work do
    current.done = current.done + 1
    local next = current.work[current.done]
    ACTIONS[next.what](next.id)
  end
  local resolved, cascaded = current.resolved, current.cascaded
  flush()
  return resolved, cascaded
end

return step
