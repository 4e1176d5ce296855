--- Claims executions that every quota policy has admitted, if they still wait under the admitted epoch and the same policies still apply.
--- Claims nothing when the admission is too old, or when the lane has a limit and there is no grant.
---
--- key  lane_eligible       zset
--- arg  lane                text   name used in indexes
--- arg  max                 int
--- arg  worker_id           text
--- arg  worker_instance_id  text
--- arg  lease_ttl_ms        int
--- arg  first_lease_id      uuid   later ids count up in the last four digits
--- arg  first_attempt_id    uuid   likewise
--- arg  admitted_at         int    time of the first policy's admission
--- arg  granted             int?   maximum number, when the lane has a limit
--- arg  seq                 int?   of the grant
--- arg  revision            int?   of the settings the grant was made under
--- arg  admitted            list   execution id, epoch and its slots, repeated
---
--- ok   expires_at          ms
--- ok   next_behind         of the best admitted execution that did not fit: distance from the highest priority, empty when there is none
--- ok   next_created_at     ms, empty when there is none
--- ok   tasks               for each execution its number of items, and then its task as items
--- ok   limited             1 when the lane has a limit and there was no grant
--- ok   held                number of executions of the lane held here, empty without a grant
--- ok   counted_seq         the last grant that is used or void
--- ok   counted_revision    of the current settings
--- ok   counted_at          ms
--- ok   running             admitted executions that ran under their admitted epoch before this call
--- no   invalid_args

local moment, running = now(), {}
for nth = 1, #admitted, 3 do
  local attempt = call('HGET', keys.of(admitted[nth], 'lease:current'), 'attempt')
  if attempt and text(lease.attempt_parts(attempt)) == admitted[nth + 1] then
    running[#running + 1] = admitted[nth]
  end
end
local holder = holder(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
local configured = settings.of(lane)
if moment >= admitted_at + limits.quota_reserved_ms then
  admitted = {}
end
if not granted then
  local limited = configured and configured.concurrency
  if limited or configured and configured.state == 'paused' then
    return ok(holder.expires_at, '', '', {}, limited and '1' or '', '', '', '', '', running)
  end
  local tasks, behind, created_at = hand_out(lane_eligible, lane, {}, {}, max, holder, moment, admitted)
  return ok(holder.expires_at, behind, created_at, tasks, '', '', '', '', '', running)
end
local held = call('ZCARD', keys.lane(lane, 'active'))
local counted, of = configured and configured.grants or 0, configured and configured.revision or 0
if not configured or revision ~= of or seq <= counted or configured.state == 'paused' then
  return ok(holder.expires_at, '', '', {}, '', text(held), text(counted), text(of), text(moment), running)
end
append(holder.fields, 'limited', '1')
holder.count, holder.ending = #holder.fields, ' limited'
local tasks, behind, created_at, _, taken = hand_out(
  lane_eligible, lane, {}, {}, math.min(max, granted), holder, moment, admitted
)
settings.note_grant(lane, seq)
return ok(holder.expires_at, behind, created_at, tasks, '', text(held + taken), text(seq), text(of), text(moment), running)
