--- Grants a partition executions of a lane with a limit, at most as many as it wants and as are free. If none is free, names the partitions
--- with the oldest counts, because executions they hold may have ended.
---
--- key  config      hash
--- arg  lane        text   name used in indexes
--- arg  partition   int    the partition that wants to hand out executions
--- arg  want        int    maximum number to grant
--- arg  partitions  int    number of all partitions
---
--- ok   granted     number granted, empty when none is free
--- ok   seq         of the grant
--- ok   revision    of the settings, 0 when the lane is not configured or has no limit
--- ok   uncounted   partition and its last grant, repeated
--- no   invalid_args

local moment, configured = now(), settings.of(lane)
if not configured or not configured.concurrency then
  return ok('', '', '0', {})
end
local all, held = share.all(lane)
local revision, uncounted = text(configured.revision), {}
for each = 0, partitions - 1 do
  if not all[each] then
    uncounted[#uncounted + 1], uncounted[#uncounted + 2] = text(each), '0'
  end
end
if uncounted[1] then
  return ok('', '', revision, uncounted)
end
local granted, mine = math.min(math.max(configured.concurrency - held, 0), want), all[partition]
if granted > 0 and mine then
  mine.held, mine.seq = mine.held + granted, mine.seq + 1
  call('HSET', config, share.fields(partition, mine))
  return ok(text(granted), text(mine.seq), revision, {})
end
local stale = {}
for each, one in pairs(granted == 0 and all or {}) do
  if one.held > 0 and moment - one.counted_at >= limits.recount_ms then
    one.partition, stale[#stale + 1] = each, one
  end
end
table.sort(stale, function(a, b)
  return a.counted_at < b.counted_at or a.counted_at == b.counted_at and a.partition < b.partition
end)
for nth = 1, math.min(#stale, limits.recount) do
  uncounted[2 * nth - 1], uncounted[2 * nth] = text(stale[nth].partition), text(stale[nth].seq)
end
return ok('', '', revision, uncounted)
