--- Processes the upstreams of a join that fired, within one step. With `afresh`, starts over if none are pending.

return function(id, afresh)
  local moment = now()
  local e = record.load(id)
  if not e then
    return no.execution_not_found()
  elseif not e.core.flow_id then
    return no.execution_not_in_flow('field', 'execution_id', 'detail', 'is in no flow')
  end
  local joined, known = step.group(e.core.flow_id, id), step.meta(id)
  local fired = joined and joined.group_state ~= 'pending' and joined.on_satisfied == 'cancel_remaining'
  if afresh and fired and not known.siblings_since and not e.core.terminal_outcome then
    siblings.owe(joined, { since = moment })
  end
  if not known.siblings_since then
    return already('0', '')
  end
  step.later('siblings', id)
  local _, cascaded = step.run()
  return ok(text(cascaded), known.siblings_since and '1' or '')
end
