--- Takes executions of a lane with a limit, as many as a grant says at most. A grant that was used or counted out before, or
--- that is of other settings, takes nothing. Says how many of the lane are held here then.
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
--- arg  granted             int    how many at most
--- arg  seq                 int    of the grant
--- arg  revision            int    of the settings it is of
---
--- ok   expires_at          ms
--- ok   next_behind         of the best still waiting: how far behind the highest priority it is, empty when there is none
--- ok   next_created_at     ms, empty when there is none
--- ok   tasks               a list per execution, in the order of `task`
--- ok   held                how many of the lane are held here
--- ok   counted_seq         the last grant that counts no more
--- ok   counted_revision    of the settings as they are
--- ok   admissions          execution, epoch of the lease to come and what it needs of quota policies, a list for each
--- no   invalid_args

local moment = now()
local holder = holder(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
holder.assigned_to = assigned and worker_instance_id
local held, configured = call('ZCARD', keys.lane(lane, 'active')), settings.of(lane)
local counted, of = configured and configured.grants or 0, configured and configured.revision or 0
if not configured or revision ~= of or seq <= counted or configured.state == 'paused' then
  return ok(holder.expires_at, '', '', {}, text(held), text(counted), text(of), {})
end
append(holder.fields, 'limited', '1')
holder.count, holder.ending = #holder.fields, ' limited'
local most = math.min(max, granted)
local tasks, behind, created_at, listed = hand_out(lane_eligible, lane, kinds, capabilities, most, holder, moment)
settings.note_grant(lane, seq)
return ok(holder.expires_at, behind, created_at, tasks, text(held + #tasks), text(seq), text(of), listed)
