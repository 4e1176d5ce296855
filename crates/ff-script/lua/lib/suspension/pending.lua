--- Pending waitpoints, created before any suspension uses them: one field of the record, a line each.

local pending = {}

--- Returns all of them, oldest first.
function pending.of(e)
  if not e.pending then
    e.pending = {}
    for id, expires_at, key in (e.core.pending_waitpoints or ''):gmatch('(%S+) (%d+) ([^\n]+)') do
      e.pending[#e.pending + 1] = { id = id, expires_at = tonumber(expires_at), key = key }
    end
  end
  return e.pending
end

--- Returns the pending waitpoints that have not expired, without the `used` ones.
function pending.live(e, moment, used)
  local live = {}
  for _, one in ipairs(pending.of(e)) do
    if moment < one.expires_at and not (used and used[one.id]) then
      live[#live + 1] = one
    end
  end
  return live
end

--- Returns all of them but one.
function pending.except(e, id)
  local others = {}
  for _, one in ipairs(pending.of(e)) do
    others[#others + 1] = one.id ~= id and one or nil
  end
  return others
end

--- Returns when the first of them expires.
function pending.first(e)
  local first
  for _, one in ipairs(pending.of(e)) do
    first = math.min(first or one.expires_at, one.expires_at)
  end
  return first
end

local function ids_of(list)
  local ids = {}
  for _, one in ipairs(list) do
    ids[one.id] = true
  end
  return ids
end

--- Replaces the pending waitpoints.
function pending.keep(e, list)
  local before, lines = pending.of(e), {}
  local was, is = ids_of(before), ids_of(list)
  for _, one in ipairs(before) do
    if not is[one.id] then
      index.unpend(one.id)
    end
  end
  for nth, one in ipairs(list) do
    lines[nth] = one.id .. ' ' .. text(one.expires_at) .. ' ' .. one.key
    if not was[one.id] then
      index.pend(one.expires_at, one.id)
    end
  end
  e.pending = list
  if lines[1] then
    record.put(e, 'pending_waitpoints', table.concat(lines, '\n'))
  else
    record.drop(e, 'pending_waitpoints')
  end
end

return pending
