--- Stores counts that were made after the last grant to their partition, under the current settings and not before the stored count. Other
--- counts are outdated and are skipped.
---
--- key  config      hash
--- arg  lane        text   name used in indexes
--- arg  partitions  int    number of all partitions
--- arg  counts      list   partition, count, last grant, revision and time of the count, repeated
---
--- ok   taken       number of stored counts
--- no   invalid_args

local FIELDS = 5

local moment, configured = now(), settings.of(lane)
local fresh, partitions_of = {}, {}
for nth = 1, #counts, FIELDS do
  local of, held = whole(counts[nth]), whole(counts[nth + 1])
  local seq, revision, counted_at = whole(counts[nth + 2]), whole(counts[nth + 3]), whole(counts[nth + 4])
  if not (of and held and seq and revision and counted_at) then
    return no.invalid_args('field', 'counts')
  end
  if configured and configured.concurrency and revision == configured.revision and of < partitions then
    fresh[#fresh + 1] = { held = held, seq = seq, counted_at = math.min(counted_at, moment), partition = of }
    partitions_of[#partitions_of + 1] = text(of)
  end
end
if not fresh[1] then
  return ok('0')
end
local known, taken, set = share.some(lane, partitions_of), 0, {}
for nth, one in ipairs(fresh) do
  local stored = known[nth]
  if not stored or stored.seq == one.seq and stored.counted_at <= one.counted_at then
    taken = taken + 1
    append(set, share.fields(one.partition, one))
  end
end
if set[1] then
  call('HSET', config, unpack(set))
end
return ok(text(taken))
