--- Applies the timeout behavior of a suspension, if its timeout has come.
---
--- key  exec_core            hash
--- key  suspension_current   hash
--- key  waitpoint            hash
--- key  waitpoint_condition  hash
--- key  attempt_hash         hash
--- key  stream_meta          hash
--- key  suspension_timeout   zset
--- key  lane_suspended       zset
--- key  lane_terminal        zset
--- key  lane_eligible        zset
--- key  lane_delayed         zset
--- key  lease_history        list
--- arg  execution_id         text
---
--- ok   behavior             or the reason why nothing was done, without further fields
--- ok   public_state
--- no   invalid_args
--- flag allow-oom                     a full server must still be able to fire what is due

local moment, id = now(), keys.id(exec_core)
local e = record.load(id)
if not e or not e.suspension then
  index.untime(id)
  local why = not e and 'not_found' or e.state ~= 'suspended' and 'not_suspended' or 'no_active_suspension'
  return ok(why .. '_cleaned')
end
local behavior, at = e.suspension.timeout_behavior, due.SUSPENSION.at(e)
if not at or at > moment then
  return ok('not_yet_due')
end
due.SUSPENSION.fire(e, moment)
record.save(e)
return ok(behavior, e.core.public_state)
