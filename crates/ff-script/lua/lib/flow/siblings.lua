--- The other upstreams of a join that fired. Upstreams that no other dependent needs are cancelled, in any number, across crashes.

local siblings = {}

--- Stores how far the siblings were processed; nil means all of them.
function siblings.owe(joined, left)
  local known = step.meta(joined.id)
  left = left or {}
  known.siblings_since, known.siblings_after, known.siblings_within = left.since, left.after, left.within
  joined.cancel_siblings_pending = left.since and '1' or nil
end

--- Returns true if a join other than the one that fired still waits for an upstream. Returns nil and the last edge examined if the step
--- has no budget left.
local function is_needed(upstream, joined, within)
  if step.dependents(upstream) <= 1 then
    return false
  end
  local budget = step.budget()
  local page = edge.leaving(joined.flow_id, upstream.id, within, budget + 1)
  local looked = math.min(#page, budget)
  for nth = 1, looked do
    local one = step.edge(page[nth])
    step.spend(1)
    local other = one.downstream ~= joined.id and step.group(joined.flow_id, one.downstream)
    if other and other.group_state == 'pending' and other.round == one.round then
      local e = record.find(one.downstream)
      if e and not e.core.terminal_outcome then
        return true
      end
    end
  end
  if looked < #page then
    return nil, looked > 0 and page[looked].id or within
  end
  return false
end

--- Continues to process the upstreams of a join that fired, where the last step stopped.
function siblings.look_after(id)
  local known, e = step.meta(id), record.find(id)
  if not e or not known.siblings_since then
    return
  end
  local joined = step.group(e.core.flow_id, id)
  if not joined then
    return
  end
  local left = { since = known.siblings_since, after = known.siblings_after, within = known.siblings_within }
  local budget = step.budget()
  local page = edge.entering(joined.flow_id, id, left.after, budget + 1)
  local looked = math.min(#page, budget)
  for nth = 1, looked do
    if step.budget() == 0 then
      return siblings.owe(joined, left)
    end
    step.spend(1)
    local one = step.edge(page[nth])
    local upstream = one.round == joined.round and record.find(one.upstream)
    if upstream and not upstream.core.terminal_outcome then
      local needed, within = is_needed(upstream, joined, left.within)
      if needed == nil then
        left.within = within
        return siblings.owe(joined, left)
      elseif not needed then
        step.cascaded()
        step.cancel(upstream, 'join')
        step.write(upstream)
      end
    end
    left.after, left.within = one.id, nil
  end
  siblings.owe(joined, looked < #page and left or nil)
end

return siblings
