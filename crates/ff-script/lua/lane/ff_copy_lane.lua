--- Copies the settings of a lane to this partition if they are newer than the stored ones, and returns the number of its executions held
--- here. Requirement classes are added in either case.
---
--- key  config         hash
--- arg  lane           text   name used in indexes
--- arg  state          text
--- arg  concurrency    int?
--- arg  ageing_ms      int?
--- arg  retention_ms   int?
--- arg  revision       int
--- arg  changed_at     int
--- arg  classes        list
--- arg  fair_by        text?
--- arg  weights        text?  weight and key, one pair per line
--- arg  has_keys       flag
---
--- ok   held           number of executions held here
--- ok   seq            the last grant that is used or void
--- ok   known          the revision that is stored here now
--- ok   at             ms, the time of the count
--- no   invalid_args

local moment, before = now(), settings.of(lane)
local grants, known = before and before.grants or 0, before and before.revision or 0
if not before or known < revision then
  local after = { state = state, concurrency = concurrency, ageing_ms = ageing_ms, retention_ms = retention_ms }
  after.revision, after.changed_at, after.grants, known = revision, changed_at, grants, revision
  after.fair_by, after.weights = fair_by, weights
  after.keyed = (has_keys or before and before.keyed) and '1' or nil
  share.clear(lane)
  settings.write(lane, after)
  settings.announce(lane, before, after)
end
settings.add_classes(lane, classes)
return ok(text(call('ZCARD', keys.lane(lane, 'active'))), text(grants), text(known), text(moment))
