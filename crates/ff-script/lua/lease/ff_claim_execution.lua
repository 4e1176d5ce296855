--- Takes up to so many executions of a lane, and no more than go at once: by priority, then age, then id. Each comes with
--- everything a worker needs.
---
--- Stops before the payloads together pass what one reply may carry, but always takes one when there is one. What a
--- cancelled flow does not spare is ended instead of taken. Of a paused lane nothing is taken, of one with a limit nothing
--- without a grant.
---
--- key  lane_eligible       zset
--- arg  lane                text   as indexes name it
--- arg  kinds               list   any when none is named
--- arg  capabilities        list   of the worker: what requires others is not taken
--- arg  assigned            flag   only what is assigned to the worker instance, and nothing else
--- arg  max                 int
--- arg  worker_id           text
--- arg  worker_instance_id  text
--- arg  lease_ttl_ms        int
--- arg  first_lease_id      uuid   those after it count on in the last four digits
--- arg  first_attempt_id    uuid   likewise
---
--- ok   expires_at          ms
--- ok   next_behind         of the best still waiting: how far behind the highest priority it is, empty when there is none
--- ok   next_created_at     ms, empty when there is none
--- ok   tasks               a list per execution, in the order of `task`
--- ok   limited             1 when something waits that the lane's limit keeps from being taken
--- ok   admissions          execution, epoch of the lease to come and what it needs of quota policies, a list for each
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
