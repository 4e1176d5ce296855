--- Claims up to `max` executions of a lane, bounded by the limit of one call, by priority, then age, then id. Each task has everything a
--- worker needs.
---
--- It stops before the payloads together exceed the limit of one reply, but always claims one when there is one. An execution that a
--- cancelled flow does not spare is ended instead. Nothing is claimed from a paused lane, or from a lane with a limit without a grant.
---
--- key  lane_eligible       zset
--- arg  lane                text   name used in indexes
--- arg  kinds               list   any kind when empty
--- arg  capabilities        list   of the worker; executions that require others are not claimed
--- arg  assigned            flag   claims only executions that are assigned to the worker instance
--- arg  max                 int
--- arg  worker_id           text
--- arg  worker_instance_id  text
--- arg  lease_ttl_ms        int
--- arg  first_lease_id      uuid   later ids count up in the last four digits
--- arg  first_attempt_id    uuid   likewise
---
--- ok   expires_at          ms
--- ok   next_behind         of the best execution that still waits: distance from the highest priority, empty when there is none
--- ok   next_created_at     ms, empty when there is none
--- ok   tasks               for each execution its number of items, and then its task as items
--- ok   limited             1 when the lane's limit keeps a waiting execution from being claimed
--- ok   admissions          for each execution its id, the epoch of the coming lease and its needs of quota policies
--- no   invalid_args

local moment = now()
local holder = holder(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
holder.assigned_to = assigned and worker_instance_id
local configured = settings.of(lane)
if configured and configured.state == 'paused' then
  return ok(holder.expires_at, '', '', {}, '', {})
elseif configured and configured.concurrency then
  local classes = claim.classes(configured, capabilities, holder.assigned_to)
  local is_keyed = configured.keyed and not holder.assigned_to
  local waits = claim.first(lane_eligible, lane, kinds, classes, 0, nil, moment)[1]
    or is_keyed and turns.first(lane_eligible, lane, configured, kinds, classes, 0, moment)[1]
  return ok(holder.expires_at, '', '', {}, waits and '1' or '', {})
end
local tasks, behind, created_at, listed = hand_out(lane_eligible, lane, kinds, capabilities, max, holder, moment)
return ok(holder.expires_at, behind, created_at, tasks, '', listed)
