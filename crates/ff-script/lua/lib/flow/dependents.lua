--- Notifies dependents: the end of an upstream settles its edges, and a join is decided as soon as its counts allow. The member of a
--- decided join is released, or skipped, which notifies its own dependents.

local dependents = {}

--- Only success satisfies an edge. Any other end of the upstream makes the edge impossible.
local SETTLED = { success = 'satisfied', failed = 'failed', cancelled = 'failed', expired = 'failed', skipped = 'skipped' }

function dependents.state_after(outcome)
  return SETTLED[outcome]
end

--- Continues to notify the dependents of a member where the last step stopped.
function dependents.notify(id)
  local e = record.find(id)
  local propagation = e and e.pending_propagation
  if not propagation then
    return
  end
  local budget = step.budget()
  local page = edge.leaving(e.core.flow_id, id, propagation.after, budget + 1)
  local notified = math.min(#page, budget)
  step.spend(notified)
  for nth = 1, notified do
    local one = step.edge(page[nth])
    if propagation.what ~= 'end' then
      reopen.unsettle(one, propagation.what == 'reopen')
    elseif e.core.terminal_outcome then
      dependents.settle(one, SETTLED[e.core.terminal_outcome], e)
    end
  end
  step.touch(e)
  if notified < #page then
    e.pending_propagation = { what = propagation.what, since = propagation.since, after = page[notified].id }
    return
  end
  e.pending_propagation = nil
  if propagation.what ~= 'end' then
    dependents.admit(e)
  end
end

--- Settles an edge and decides its join. If the join has already fired, the outcome is only counted.
function dependents.settle(one, to, upstream)
  if one.state == to then
    return
  end
  dependents.count(one, to, upstream)
  local joined = step.group(one.flow_id, one.downstream)
  if not joined or joined.group_state ~= 'pending' or joined.round ~= one.round then
    return
  end
  group.evaluate(joined, here.memory.moment)
  if joined.group_state ~= 'pending' then
    dependents.fired(joined)
  end
end

--- Counts an edge if it is of the current round. Passes the result on if the join is still pending.
function dependents.count(one, to, upstream)
  local joined = step.group(one.flow_id, one.downstream)
  if not joined then
    return
  end
  step.resolved()
  local from = one.state
  one.state = to
  if one.round == joined.round then
    group.recount(joined, from, to)
    if joined.group_state == 'pending' and to == 'satisfied' then
      meta.pass(one, upstream)
    end
  end
end

local SKIPPED = { outcome = 'skipped', state = 'skipped', by = 'dependencies', attempt = 'cancelled' }

--- Moves a blocked execution to its next phase if nothing but its join blocks it.
function dependents.admit(e)
  local on, moment = e.core.blocked_on, here.memory.moment
  if e.core.public_state ~= 'waiting_children' or on == 'staging' or on == 'reopening' and e.pending_propagation then
    return
  end
  local joined = step.group(e.core.flow_id, e.id)
  local state, until_ms = joined and joined.group_state or 'satisfied', e.core.blocked_until
  if state == 'pending' and not on then
    return
  elseif state == 'pending' then
    phase.blocked(e, nil, until_ms, moment)
  elseif state == 'impossible' and e.core.next_attempt ~= 'resume' then
    step.cascaded()
    finish(e, SKIPPED, moment)
  else
    event_feed.to(e, 'unblocked', 'reason', 'waiting_for_children')
    phase.delayed(e, until_ms or moment, 'submitted', moment)
  end
  step.write(e)
end

--- Moves the member of a join that fired, and schedules the cancellation of its other upstreams if the join asks for it.
function dependents.fired(joined)
  local e = record.find(joined.id)
  if not e or e.core.terminal_outcome then
    return
  end
  if joined.on_satisfied == 'cancel_remaining' then
    siblings.owe(joined, { since = here.memory.moment })
    step.later('siblings', joined.id)
  end
  dependents.admit(e)
end

return dependents
