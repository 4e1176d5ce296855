--- Staging: a flow is submitted part by part, and stays invisible until the last part has come.

local staging = {}

--- Returns the answer to a part that came before, or the refusal of one that cannot come now. Otherwise returns nil and the flow to
--- continue.
function staging.known(flow, namespace, fingerprint, part)
  if not flow then
    return part > 0 and no.flow_not_found() or nil
  end
  local core = flow.core
  if core.namespace ~= namespace or core.fingerprint ~= fingerprint then
    return no.idempotency_conflict('field', 'flow_id', 'detail', 'was used before for another flow')
  elseif not core.staging_parts then
    return { 1, 'DUPLICATE', 'submitted', submitted(flow) }
  elseif core.sweep_action then
    -- The flow is being forgotten. It can be submitted again afterwards.
    return no.flow_not_found()
  elseif part < core.staging_parts then
    return ok('staged', text(core.staging_parts))
  elseif part > core.staging_parts then
    local detail = 'must be ' .. text(core.staging_parts) .. ', got ' .. text(part)
    return no.invalid_input('field', 'part', 'detail', detail)
  end
  return nil, flow
end

--- Counts the joins that have fewer upstreams than they need. With the last part, returns the refusal of such a join; before that, more
--- upstreams may come.
function staging.short_refusal(flow, is_last)
  local short, groups = flow.core.staging_short or 0, step.groups()
  for _, joined in ipairs(groups) do
    short = short - (joined.was_short and 1 or 0) + (group.is_short(joined) and 1 or 0)
  end
  if is_last and short > 0 then
    for _, joined in ipairs(groups) do
      local e = record.find(joined.id)
      local refusal = group.short_refusal(joined, 'nodes.' .. e.core.node .. '.join')
      if refusal then
        return refusal
      end
    end
    local detail = 'must have the upstreams their joins need, ' .. text(short) .. ' have not'
    return no.invalid_input('field', 'nodes', 'detail', detail)
  end
  if flow.core.staging_parts then
    flow_record.put(flow, 'staging_short', short)
  end
end

--- Waits for the next part, for a limited time.
function staging.await_part(flow, moment)
  flow_record.put(flow, 'staging_parts', flow.core.staging_parts + 1)
  flow_record.put(flow, 'staging_until', moment + limits.staging_ms)
end

--- Makes a flow visible after its last part. Staged members are opened in later steps.
function staging.open(flow)
  local core, was_staged = flow.core, flow.core.staging_parts
  for _, name in ipairs({ 'staging_parts', 'staging_short', 'staging_until' }) do
    flow_record.put(flow, name, nil)
  end
  flow_record.put(flow, 'graph_revision', 1)
  flow_record.add_event(flow, 'opened', 'nodes', core.nodes, 'edges', core.edges)
  if was_staged then
    member_sweep.announce(flow, 'open')
  end
end

return staging
