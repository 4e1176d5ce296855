--- Takes up to so many executions of a lane, and no more than go at once: by priority, then age, then id. Each comes with
--- everything a worker needs.
---
--- Stops before the payloads together pass what one reply may carry, but always takes one when there is one. What a
--- cancelled flow does not spare is ended instead of taken.
---
--- key  lane_eligible       zset
--- arg  lane                text   as indexes name it
--- arg  kinds               list   any when none is named
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
--- no   invalid_args

local moment = now()
max = math.min(max, limits.claim_at_once)
local expires_at = moment + lease_ttl_ms
local holder = {
  name = worker_id .. ' ' .. worker_instance_id,
  instance = worker_instance_id,
  expires_at = expires_at,
  rest = {}, -- what else is said of its leases
}
append(holder.rest, 'ttl_ms', lease_ttl_ms ~= limits.lease_ttl_ms and lease_ttl_ms)
append(holder.rest, 'lane', lane ~= 'default' and lane)
local waiting = claim.first(lane_eligible, lane, kinds, max)
index.collect()
local tasks, plain, bytes, taken = {}, {}, 0, 0
local behind, created_at, passed_over
local payloads = claim.payloads(waiting, max)
for nth = 1, #waiting, 2 do
  local id = waiting[nth]
  local payload = taken < max and payloads() or ''
  bytes = bytes + #payload
  if taken == max or bytes > limits.claim_bytes and taken > 0 then
    behind, created_at = index.head(tonumber(waiting[nth + 1]), moment)
    break
  end
  local lease_id, attempt_id = claim.nth(first_lease_id, taken), claim.nth(first_attempt_id, taken)
  local room = taken > 0 and limits.claim_bytes - bytes
  local score = waiting[nth + 1]
  local task, more, ended = claim.take(id, score, payload, lane, holder, lease_id, attempt_id, plain, room, moment)
  if ended then
    bytes, passed_over = bytes - #payload, tonumber(score)
  elseif task then
    taken = taken + 1
    tasks[taken] = task
    bytes = bytes + (more or 0)
  elseif more then
    behind, created_at = index.head(tonumber(score), moment)
    break
  end
end
-- There may be more behind what was looked at and turned out not to start.
if not behind and passed_over and #waiting > 2 * max then
  behind, created_at = index.head(passed_over, moment)
end
for kind, ids in pairs(plain) do
  index.hold_all(lane, kind, worker_instance_id, moment, expires_at, ids)
end
return ok(text(expires_at), behind and text(behind) or '', behind and text(created_at) or '', tasks)
