--- Creates an empty flow that stays open until it is closed, or finds the existing one.
---
--- key  core            hash
--- arg  namespace       text
--- arg  kind            text
--- arg  traceparent     text?  the submitter's trace, when there is one
--- arg  tracestate      text?
--- arg  tags            list   key, value, key, value
---
--- ok   state
--- ok   nodes
--- ok   edges
--- ok   graph_revision
--- no   idempotency_conflict
--- no   invalid_args

if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
end
local moment, id = now(), keys.flow_id(core)
local known = step.flow(id)
if known then
  local before = known.core
  if before.namespace ~= namespace or before.kind ~= kind or before.fingerprint then
    return no.idempotency_conflict('field', 'flow_id', 'detail', 'was used before for another flow')
  end
  return { 1, 'DUPLICATE', submitted(known) }
end
local flow = flow_record.new(id, namespace, kind, moment)
flow.tags = tags
flow_record.put_if_given(flow, 'traceparent', traceparent)
flow_record.put_if_given(flow, 'tracestate', tracestate)
flow_record.put(flow, 'held_open', '1')
flow_record.add_event(flow, 'opened', 'nodes', 0, 'edges', 0)
step.begin_flow(flow)
step.run()
return ok(submitted(flow))
