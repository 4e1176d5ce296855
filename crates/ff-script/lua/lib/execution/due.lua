--- Due work: all timers of an execution, as one table.

local due = {}

--- Timers that are due at the same time fire in this order.
local TABLE = {
  {
    lapse = 'deadlines',
    at = function(e)
      return not e.core.terminal_outcome and e.core.deadline_at or nil
    end,
    fire = function(e, moment)
      local lease, attempt = 'deadline_passed', 'deadline_passed'
      finish(e, { outcome = 'expired', state = 'expired', by = 'deadline', lease = lease, attempt = attempt }, moment)
    end,
  },
  {
    at = function(e)
      return e.suspension and e.suspension.timeout_at
    end,
    fire = function(e, moment)
      suspension.expire(e, moment)
    end,
  },
  {
    lapse = 'attempts',
    at = function(e)
      return e.lease and e.lease.timeout_at
    end,
    fire = function(e, moment, jitter)
      retry.timed_out(e, jitter, moment)
    end,
  },
  {
    lapse = 'leases',
    at = function(e)
      return e.lease and e.lease.expires_at
    end,
    fire = function(e, moment)
      reclaim(e, moment)
    end,
  },
  {
    at = function(e)
      return e.core.delayed_until
    end,
    fire = function(e, moment)
      event_feed.to(e, 'promoted')
      phase.waiting(e, moment)
    end,
  },
  {
    at = function(e)
      return phase.reason(e.core.blocked_on) and e.core.blocked_until
    end,
    fire = function(e, moment)
      phase.admit(e, moment)
    end,
  },
  {
    at = function(e)
      return e.core.pending_waitpoints and pending.first(e) or nil
    end,
    fire = function(e, moment)
      event_feed.to(e, 'waitpoint_expired')
      pending.keep(e, pending.live(e, moment))
    end,
  },
}

due.DEADLINE, due.SUSPENSION, due.LEASE, due.DELAY = TABLE[1], TABLE[2], TABLE[4], TABLE[5]

--- Returns the next timer of an execution: its time and its row.
local function next_of(e)
  local first, which
  for _, row in ipairs(TABLE) do
    local at = row.at(e)
    if at and (not first or at < first) then
      first, which = at, row
    end
  end
  return first, which
end

--- Fires all due timers of an execution, earliest first, and returns whether any fired. Counts expired timers in `lapsed`, if given.
function due.fire(e, jitter, moment, lapsed)
  local fired = false
  while true do
    local at, row = next_of(e)
    if not at or at > moment then
      break
    end
    row.fire(e, moment, jitter)
    if lapsed and row.lapse then
      lapsed[row.lapse] = lapsed[row.lapse] + 1
    end
    fired = true
  end
  if fired then
    record.save(e)
  end
  return fired
end

--- Fires one timer of an execution if it is due. The answer has the resulting public state.
function due.fire_one(core, row, moment)
  local e = record.load(keys.id(core))
  if not e then
    return no.execution_not_found()
  end
  local at = row.at(e)
  if not at or at > moment then
    return ok('not_yet_due', e.core.public_state)
  end
  row.fire(e, moment)
  record.save(e)
  return ok(e.core.public_state)
end

local INDEXES = {
  'execution_deadline', 'suspension_timeout', 'attempt_timeout', 'lease_expiry', 'delayed', 'dispatch_backlog',
  'sibling_backlog', 'retention',
}

--- These indexes hold flows: staged submissions that expire, sweeps over members, and flows whose retention ends.
local FLOW_INDEXES = { 'flow_staging', 'flow_opening', 'cancel_backlog', 'flow_retention' }

--- This index holds waitpoints; an execution may have several.
local WAITPOINTS = 'pending_waitpoint_expiry'

--- Returns the due members of an index, as members and scores in turn. Skips an index that is known to have nothing due yet.
local function due_in(name, offset, most, moment)
  if (here.memory.earliest[name] or moment) > moment then
    return {}
  end
  local last = moment + flow_index.lead(name)
  return call('ZRANGE', keys.index(name), '-inf', last, 'BYSCORE', 'LIMIT', offset, most, 'WITHSCORES')
end

--- Returns the due executions of this partition, earliest first, a bounded number of each kind.
function due.ready(most, moment)
  local first, ids = {}, {}
  local function note(id, at)
    if not first[id] then
      ids[#ids + 1] = id
    end
    first[id] = math.min(first[id] or at, at)
  end
  for _, name in ipairs(INDEXES) do
    local flat = due_in(name, 0, most, moment)
    for nth = 1, #flat, 2 do
      note(flat[nth], tonumber(flat[nth + 1]))
    end
  end
  local others, offset, flat = #ids, 0, nil
  repeat
    flat = due_in(WAITPOINTS, offset, most, moment)
    for nth = 1, #flat, 2 do
      local id = call('HGET', keys.waitpoint(flat[nth]), 'execution_id')
      if id then
        note(id, tonumber(flat[nth + 1]))
      end
    end
    offset = offset + most
  until #flat < 2 * most or #ids - others >= most
  table.sort(ids, function(a, b)
    return first[a] < first[b] or first[a] == first[b] and a < b
  end)
  return ids
end

--- Returns the due flows of this partition, earliest first, at most `most` of each kind.
function due.flows(most, moment)
  local found, first = {}, {}
  for _, name in ipairs(FLOW_INDEXES) do
    local flat = due_in(name, 0, most, moment)
    for nth = 1, #flat, 2 do
      found[#found + 1], first[flat[nth]] = flat[nth], tonumber(flat[nth + 1]) - flow_index.lead(name)
    end
  end
  table.sort(found, function(a, b)
    return first[a] < first[b] or first[a] == first[b] and a < b
  end)
  return found
end

-- `ipairs` and `unpack` exist when a function is called, not when the library is loaded.
local ALL = { WAITPOINTS }
for nth = 1, #INDEXES do
  ALL[#ALL + 1] = INDEXES[nth]
end
for nth = 1, #FLOW_INDEXES do
  ALL[#ALL + 1] = FLOW_INDEXES[nth]
end

--- Returns when the next timer on this partition is due, or nil. Reads an index again if it may hold the earliest timer, because the cached
--- one may be gone.
function due.next_here()
  local earliest, is_read = here.memory.earliest, {}
  local function read(name)
    local score = tonumber(call('ZRANGE', keys.index(name), 0, 0, 'WITHSCORES')[2])
    earliest[name], is_read[name] = score and score - flow_index.lead(name) or math.huge, true
  end
  while true do
    local first
    for _, name in ipairs(ALL) do
      if not earliest[name] then
        read(name)
      end
      if not first or earliest[name] < earliest[first] then
        first = name
      end
    end
    if earliest[first] == math.huge then
      return nil
    elseif is_read[first] then
      return earliest[first]
    end
    read(first)
  end
end

return due
