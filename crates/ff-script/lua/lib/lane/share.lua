--- The share of each partition in the limit of a lane, as the lane's home knows it.

local share = {}

local function field(partition)
  return 'share:' .. partition
end

--- Reads the value of a field.
local function parse(stored)
  local held, seq, counted_at = stored:match('^(%d+) (%d+) (%d+)$')
  return { held = tonumber(held), seq = tonumber(seq), counted_at = tonumber(counted_at) }
end

--- Returns all shares by partition: how many are held, the last grant, and when it was counted. Also returns how many are held in all.
function share.all(lane)
  local flat, all, held = call('HGETALL', keys.lane(lane, 'config')), {}, 0
  for nth = 1, #flat, 2 do
    local partition = flat[nth]:match('^share:(%d+)$')
    if partition then
      local one = parse(flat[nth + 1])
      all[tonumber(partition)], held = one, held + one.held
    end
  end
  return all, held
end

--- Returns the shares of some partitions, in their order; false where there is none.
function share.some(lane, partitions)
  local fields = {}
  for nth, partition in ipairs(partitions) do
    fields[nth] = field(partition)
  end
  local found = call('HMGET', keys.lane(lane, 'config'), unpack(fields))
  for nth, kept in ipairs(found) do
    found[nth] = kept and parse(kept)
  end
  return found
end

--- Returns a share as the name and value of a field.
function share.fields(partition, one)
  return field(text(partition)), text(one.held) .. ' ' .. text(one.seq) .. ' ' .. text(one.counted_at)
end

--- Drops all shares: nothing is known until every partition was counted.
function share.clear(lane)
  local gone = {}
  for partition in pairs((share.all(lane))) do
    gone[#gone + 1] = field(text(partition))
  end
  for first = 1, #gone, 1000 do
    call('HDEL', keys.lane(lane, 'config'), unpack(gone, first, math.min(first + 999, #gone)))
  end
end

return share
