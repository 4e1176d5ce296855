--- Counts what is held here of a lane. A grant up to the one that is named and was not used by now counts no more, so that
--- what is counted is all there will be of it.
---
--- key  config   hash
--- arg  lane     text   as indexes name it
--- arg  seq      int    the last grant this partition was given
---
--- ok   held     how many
--- ok   counted  the last grant that counts no more
--- ok   known    the revision that is known here, 0 when the lane was never configured
--- no   invalid_args

now()
local configured, held = settings.of(lane), text(call('ZCARD', keys.lane(lane, 'active')))
if not configured then
  return ok(held, '0', '0')
end
local counted = math.max(configured.grants, seq)
if counted > configured.grants then
  settings.note_grant(lane, counted)
end
return ok(held, text(counted), text(configured.revision))
