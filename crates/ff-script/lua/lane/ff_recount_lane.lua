--- Counts the executions of a lane that are held here. A grant up to `seq` that is not used by now becomes void, so that no later claim can
--- exceed the count.
---
--- key  config   hash
--- arg  lane     text   name used in indexes
--- arg  seq      int    the last grant this partition was given
---
--- ok   held     number of executions held here
--- ok   counted  the last grant that is used or void
--- ok   known    the revision that is stored here, 0 when the lane is not configured
--- ok   at       ms, the time of the count
--- no   invalid_args

local moment, configured, held = now(), settings.of(lane), text(call('ZCARD', keys.lane(lane, 'active')))
if not configured then
  return ok(held, '0', '0', text(moment))
end
local counted = math.max(configured.grants, seq)
if counted > configured.grants then
  settings.note_grant(lane, counted)
end
return ok(held, text(counted), text(configured.revision), text(moment))
