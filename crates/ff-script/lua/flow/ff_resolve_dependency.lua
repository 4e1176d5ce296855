--- Notifies one child of the end of an upstream: settles its edge, evaluates its join, and releases or skips the child. The caller says how
--- the upstream ended. An edge that is settled already stays as it is.
---
--- Stored values are read from the record and not taken from keys. A caller that does not know a lane or an attempt may send the
--- placeholder.
---
--- key  exec_core                  hash
--- key  deps_meta                  hash
--- key  deps_unresolved            set
--- key  dep_edge                   hash
--- key  lane_eligible              zset
--- key  lane_terminal              zset
--- key  lane_blocked_dependencies  zset
--- key  attempt_hash               hash
--- key  stream_meta                hash
--- key  payload                    string
--- key  upstream_result            string
--- key  edgegroup                  hash
--- key  incoming                   set
--- key  pending_cancel_groups      set
--- arg  edge_id                    uuid
--- arg  upstream_outcome           text
--- arg  now_ms                     bytes    ignored, the server's clock is used
--- arg  flow_id                    uuid
--- arg  downstream_execution_id    text
---
--- ok   outcome                    satisfied or impossible; already_resolved has no further fields
--- ok   effect                     data_injected or child_skipped, otherwise empty
--- ok   group_state                of the join
--- no   execution_not_found
--- no   execution_not_in_flow
--- no   invalid_dependency
--- no   invalid_input
--- no   invalid_args
--- flag allow-oom                           a full server must still be able to finish

local to = dependents.state_after(upstream_outcome)
if not to then
  return no.invalid_input('field', 'upstream_outcome')
end
now()
local child = record.load(downstream_execution_id)
if not child then
  return no.execution_not_found()
elseif child.core.flow_id ~= flow_id then
  return no.execution_not_in_flow('field', 'downstream_execution_id')
end
local ends = call('HMGET', keys.flow(flow_id, 'edge:' .. edge_id), 'upstream_execution_id', 'downstream_execution_id')
if ends[2] ~= downstream_execution_id then
  return no.invalid_dependency('field', 'edge_id')
end
local upstream = record.find(ends[1])
local one = step.edge({ id = edge_id, flow_id = flow_id, upstream = ends[1], downstream = downstream_execution_id })
local joined = step.group(flow_id, downstream_execution_id)
if one.state ~= 'pending' or not upstream or not joined then
  return ok('already_resolved')
end
local was_finished = child.core.terminal_outcome
dependents.settle(one, to, upstream)
local effect = ''
if to == 'satisfied' then
  effect = one.passed_bytes and one.passes == 'payload' and 'data_injected' or ''
elseif not was_finished and child.core.terminal_outcome == 'skipped' then
  effect = 'child_skipped'
end
return ok(to == 'satisfied' and 'satisfied' or 'impossible', effect, joined.group_state)
