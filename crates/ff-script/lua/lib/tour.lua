--- What is done to every member of a flow, one after the other in bounded steps: opening what was staged, cancelling what a
--- cancelled flow does not spare, forgetting what was staged and given up or was kept for long enough.

local tour = {}

--- Has a tour begin with the next step. One under way is given up for it.
function tour.announce(flow, errand)
  flow_record.put(flow, 'errand', errand)
  flow_record.put(flow, 'errand_since', here.memory.moment)
  flow_record.put(flow, 'errand_after', nil)
  flow_record.put(flow, 'errand_seen', nil)
end

--- Begins a tour.
function tour.set_out(flow, errand)
  tour.announce(flow, errand)
  step.later('tour', flow.id)
end

--- Takes up what is due of a flow: the tour of its members, which begins when a staged submission is given up, or when what
--- has ended was kept for long enough.
function tour.due(id, moment)
  local flow = step.flow(id)
  if not flow then
    return
  end
  local until_ms = flow.core.staging_until
  local forget_at = flow_record.forget_at(flow)
  if until_ms and until_ms <= moment and not flow.core.errand then
    tour.set_out(flow, 'discard')
  elseif forget_at and forget_at <= moment then
    tour.set_out(flow, 'forget')
  else
    step.later('tour', id)
  end
end

local VISITS = {}

--- Lets a staged member wait, for its upstreams or a worker. Blocked anew, it is kept by its join alone.
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

--- Members that one command names.
local NAMED_AT_ONCE = 1000

--- While a cancellation takes more than one step, the members it has not come to are named, from its first step on.
local function name_pending(flow, page, visited, more)
  local key = keys.flow(flow.id, 'pending_cancels')
  if more and flow.core.errand_after then
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

--- Visits members, and says how many it came to. What is forgotten goes with its edges, of which there may be many.
local function visit(flow, page)
  local errand = flow.core.errand
  if errand == 'discard' then
    return member.forget_all(flow, page, #page)
  elseif errand == 'forget' then
    return member.forget_all(flow, page, member.forgettable(page))
  end
  for _, id in ipairs(page) do
    local e = record.find(id)
    if e then
      VISITS[errand](e, flow)
    end
  end
  return #page
end

--- Goes on with a tour, where it was left.
function tour.go_on(id)
  local flow = step.flow(id)
  local errand = flow and flow.core.errand
  if not errand then
    return
  end
  local budget = step.budget()
  local page = member.after(id, flow.core.errand_after, budget + 1)
  local more = #page > budget
  page[budget + 1] = nil
  local visited = visit(flow, page)
  step.spend(visited)
  more = more or visited < #page
  if errand == 'cancel' then
    name_pending(flow, page, visited, more)
  end
  if more then
    flow_record.put(flow, 'errand_after', page[visited] or flow.core.errand_after)
    flow_record.put(flow, 'errand_seen', (flow.core.errand_seen or 0) + visited)
    return
  end
  for _, name in ipairs({ 'errand', 'errand_since', 'errand_after', 'errand_seen' }) do
    flow_record.put(flow, name, nil)
  end
  flow.gone = errand == 'discard' or errand == 'forget'
end

return tour
