--- Detects whether a new edge would close a cycle in a flow.

local cycle = {}

--- Maximum number of edges examined in one call, however many it adds.
local MOST = 3 * limits.cycle_search

local function search_from(from, target, side, other)
  return { target = target, side = side, other = other, seen = { [from] = true }, ahead = { from }, at = 1, looked = 0 }
end

local function is_spent(one)
  return one.looked > limits.cycle_search
end

--- Returns the members one edge away: over stored edges, and over edges added in this call. Stored ones are cached for the next edge of the
--- same call.
local function neighbours(flow, id, one, cache)
  local names = cache[one.side]
  if not names[id] then
    local list = {}
    local known = step.known(id)
    if not (known and known.place == 'none') then
      local found = one.side == 'upstream' and edge.leaving or edge.entering
      for _, neighbour in ipairs(found(flow.id, id, nil, limits.cycle_search + 1)) do
        list[#list + 1] = not neighbour.is_new and neighbour[one.other] or nil
      end
    end
    names[id] = list
  end
  return names[id], step.added(id, one.side)
end

--- Visits the next member. Returns true if it reached the target.
local function advance(flow, one, cache)
  local id = one.ahead[one.at]
  one.at = one.at + 1
  local kept, added = neighbours(flow, id, one, cache)
  one.looked = one.looked + #kept + #added
  cache.looked = cache.looked + #kept + #added
  local function see(next)
    if not one.seen[next] then
      one.seen[next], one.ahead[#one.ahead + 1] = true, next
    end
    return next == one.target
  end
  local found = false
  for _, next in ipairs(kept) do
    found = see(next) or found
  end
  for _, new in ipairs(added) do
    found = see(new[one.other]) or found
  end
  return found
end

--- Returns an empty cache for the searches of one call.
function cycle.search()
  return { upstream = {}, downstream = {}, looked = 0 }
end

--- Returns the refusal of an edge whose downstream already comes before its upstream. Searches from both ends, so that an edge before or
--- after a large graph is accepted quickly. Gives up, with the refusal, if both sides are too large, or if the edges of one call take too
--- long together.
function cycle.refusal(flow, new, field, cache)
  local down = search_from(new.downstream, new.upstream, 'upstream', 'downstream')
  local up = search_from(new.upstream, new.downstream, 'downstream', 'upstream')
  while true do
    if is_spent(down) and is_spent(up) or cache.looked > MOST then
      local detail = 'cannot be distinguished from a cycle within ' .. text(limits.cycle_search) .. ' edges'
      return no.cycle_detected('field', field, 'detail', detail)
    end
    local upwards = not is_spent(up) and (is_spent(down) or up.looked < down.looked)
    local one = upwards and up or down
    if not one.ahead[one.at] then
      return nil
    elseif advance(flow, one, cache) then
      return no.cycle_detected('field', field, 'detail', 'must not let the flow wait for itself')
    end
  end
end

return cycle
