--- Adds frames to the stream of the running attempt, all of them or none. Frames whose numbers exist already are skipped.
---
--- key  core         hash
--- arg  lease_id     uuid
--- arg  lease_epoch  int
--- arg  attempt_id   uuid
--- arg  from         int?     number of the first of these frames; at the end when absent
--- arg  mode         text?    durable, when the first call sends none
--- arg  max_frames   int?
--- arg  max_bytes    int?
--- arg  version      int?     version of the summary before these patches
--- arg  document     bytes    the summary after these patches
--- arg  frames       triples  channel, type and bytes of each
---
--- ok   attempt_index
--- ok   first        number of the first of these frames
--- ok   next         number of the next frame
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   lease_expired
--- no   lease_revoked
--- no   invalid_input
--- no   invalid_frame_type
--- no   invalid_offset
--- no   retention_limit_exceeded
--- no   invalid_args

local moment, id = now(), keys.id(core)
local attempt, held_key = lease.attempt_text(lease_epoch, attempt_id), keys.of(id, 'lease:current')
local held = call('HMGET', held_key, 'lease_id', 'attempt', 'expires_at', 'ending')
if held[1] ~= lease_id or held[2] ~= attempt or moment >= tonumber(held[3]) then
  return (lease.refusal(id, lease_id, attempt))
end
local nth, streamed = unpack(call('HMGET', core, 'current_attempt_index', 'streamed'))
local found = streamed and stream.load(id, nth)
local refused = found and stream.unlike(found, mode, max_frames, max_bytes)
if refused then
  return refused
end
found = found or stream.new(mode, max_frames, max_bytes, moment)
refused = stream.refusal(found, frames)
if refused then
  return refused
end
local first = from or found.frame_count
if first > found.frame_count then
  return no.invalid_offset('field', 'from', 'limit', text(found.frame_count), 'sent', text(first))
end
local new = 3 * (found.frame_count - first) + 1
if not frames[new] then
  return ok(nth, text(first), text(found.frame_count))
elseif found.mode == 'summary' and version ~= found.frame_count then
  return no.invalid_offset('field', 'version')
end
if not streamed then
  -- Marks the lease: its end closes the stream and notifies readers.
  call('HSET', core, 'streamed', '1')
  call('HSET', held_key, 'ending', (held[4] or '') .. ' linked')
end
stream.append(id, nth, found, frames, new, moment)
if found.mode == 'summary' then
  stream.summarise(id, nth, found, document)
end
return ok(nth, text(first), text(found.frame_count))
