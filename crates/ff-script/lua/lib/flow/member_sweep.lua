--- The sweep over all members of a flow, in bounded steps. It opens staged members, cancels members that a cancelled flow does not spare,
--- or forgets members of an abandoned or expired flow.

local member_sweep = {}

--- Schedules a sweep for the next step. It replaces a sweep under way.
function member_sweep.announce(flow, action)
  flow_record.put(flow, 'sweep_action', action)
  flow_record.put(flow, 'sweep_since', here.memory.moment)
  flow_record.put(flow, 'sweep_after', nil)
  flow_record.put(flow, 'sweep_seen', nil)
end

--- Begins a sweep in this step.
function member_sweep.begin(flow, action)
  member_sweep.announce(flow, action)
  step.later('member_sweep', flow.id)
end

--- Runs the member sweep of a flow. Begins one when a staged submission expires, or when the retention of an ended flow is over.
function member_sweep.due(id, moment)
  local flow = step.flow(id)
  if not flow then
    return
  end
  local until_ms = flow.core.staging_until
  local forget_at = flow_record.forget_at(flow)
  if until_ms and until_ms <= moment and not flow.core.sweep_action then
    member_sweep.begin(flow, 'discard')
  elseif forget_at and forget_at <= moment then
    member_sweep.begin(flow, 'forget')
  else
    step.later('member_sweep', id)
  end
end

local VISITS = {}

--- Opens a staged member: it waits for its upstreams or a worker. It is blocked again first, so that only its join blocks it.
function VISITS.open(e)
  if e.core.blocked_on == 'staging' then
    phase.blocked(e, nil, e.core.blocked_until, here.memory.moment)
    step.write(e)
    dependents.admit(e)
  end
end

function VISITS.cancel(e, flow)
  if not e.core.terminal_outcome and not flow_record.spares(flow, e.core, e.lease ~= nil) then
    step.cancel(e, 'flow_cancel')
    step.write(e)
  end
end

--- Number of members per SADD command.
local NAMED_AT_ONCE = 1000

--- Lists the members that a cancellation has not reached, from its first step on, if it takes more than one.
local function name_pending(flow, page, visited, more)
  local key = keys.flow(flow.id, 'pending_cancels')
  if more and flow.core.sweep_after then
    call('SREM', key, unpack(page, 1, visited))
    return
  end
  call('UNLINK', key)
  local last = more and page[visited]
  if not last then
    return
  end
  repeat
    local left = member.after(flow.id, last, NAMED_AT_ONCE)
    if left[1] then
      call('SADD', key, unpack(left))
    end
    last = left[NAMED_AT_ONCE]
  until not last
end

--- Visits members, and returns how many were done. A forgotten member is deleted with its edges, which may be many.
local function visit(flow, page)
  local action = flow.core.sweep_action
  if action == 'discard' then
    return member.forget_all(flow, page, #page)
  elseif action == 'forget' then
    return member.forget_all(flow, page, member.forgettable(page))
  end
  for _, id in ipairs(page) do
    local e = record.find(id)
    if e then
      VISITS[action](e, flow)
    end
  end
  return #page
end

--- Continues a sweep where it stopped.
function member_sweep.resume(id)
  local flow = step.flow(id)
  local action = flow and flow.core.sweep_action
  if not action then
    return
  end
  local budget = step.budget()
  local page = member.after(id, flow.core.sweep_after, budget + 1)
  local more = #page > budget
  page[budget + 1] = nil
  local visited = visit(flow, page)
  step.spend(visited)
  more = more or visited < #page
  if action == 'cancel' then
    name_pending(flow, page, visited, more)
  end
  if more then
    flow_record.put(flow, 'sweep_after', page[visited] or flow.core.sweep_after)
    flow_record.put(flow, 'sweep_seen', (flow.core.sweep_seen or 0) + visited)
    return
  end
  for _, name in ipairs({ 'sweep_action', 'sweep_since', 'sweep_after', 'sweep_seen' }) do
    flow_record.put(flow, name, nil)
  end
  flow.gone = action == 'discard' or action == 'forget'
end

return member_sweep
