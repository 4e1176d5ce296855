--- Takes over how a lane is configured, if that is newer than what is known here, and says how many of it are held here.
--- Requirement classes are added whichever is newer.
---
--- key  config         hash
--- arg  lane           text   as indexes name it
--- arg  state          text
--- arg  concurrency    int?
--- arg  ageing_ms      int?
--- arg  retention_ms   int?
--- arg  revision       int
--- arg  changed_at     int
--- arg  classes        list
--- arg  fair_by        text?
--- arg  weights        text?  weight and key, each pair on a line of its own
--- arg  has_keys       flag
---
--- ok   held           how many
--- ok   seq            the last grant that counts no more
--- ok   known          the revision that is known here then
--- no   invalid_args

now()
local before = settings.of(lane)
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
return ok(text(call('ZCARD', keys.lane(lane, 'active'))), text(grants), text(known))
