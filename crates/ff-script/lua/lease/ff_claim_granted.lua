--- Claims executions of a lane with a limit, at most as many as the grant allows. A grant that is used or void, or that was made under
--- other settings, claims nothing. Returns the number of executions of the lane held here afterwards.
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
--- arg  granted             int    maximum number
--- arg  seq                 int    of the grant
--- arg  revision            int    of the settings the grant was made under
---
--- ok   expires_at          ms
--- ok   next_behind         of the best execution that still waits: distance from the highest priority, empty when there is none
--- ok   next_created_at     ms, empty when there is none
--- ok   tasks               for each execution its number of items, and then its task as items
--- ok   held                number of executions of the lane held here
--- ok   counted_seq         the last grant that is used or void
--- ok   counted_revision    of the current settings
--- ok   counted_at          ms
--- ok   admissions          for each execution its id, the epoch of the coming lease and its needs of quota policies
--- no   invalid_args

local moment = now()
local holder = holder(lane, worker_id, worker_instance_id, lease_ttl_ms, first_lease_id, first_attempt_id, moment)
holder.assigned_to = assigned and worker_instance_id
local held, configured = call('ZCARD', keys.lane(lane, 'active')), settings.of(lane)
local counted, of = configured and configured.grants or 0, configured and configured.revision or 0
if not configured or revision ~= of or seq <= counted or configured.state == 'paused' then
  return ok(holder.expires_at, '', '', {}, text(held), text(counted), text(of), text(moment), {})
end
append(holder.fields, 'limited', '1')
holder.count, holder.ending = #holder.fields, ' limited'
local most = math.min(max, granted)
local tasks, behind, created_at, listed, taken =
  hand_out(lane_eligible, lane, kinds, capabilities, most, holder, moment)
settings.note_grant(lane, seq)
return ok(holder.expires_at, behind, created_at, tasks, text(held + taken), text(seq), text(of), text(moment), listed)
