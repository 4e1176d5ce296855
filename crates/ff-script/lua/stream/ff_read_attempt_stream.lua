--- Reads the output of an execution's attempts, from a frame of one of them on, in one consistent snapshot.
---
--- key  core           hash
--- arg  attempt        int   the first attempt
--- arg  from           int   number of its first wanted frame
--- arg  attempts       int   maximum number of attempts
--- arg  limit          int   maximum number of frames
--- arg  room           int   number of bytes after which no further frame is read
---
--- ok   attempts_made
--- ok   outcome        empty while the execution has not ended
--- ok   parts          index, end time, outcome, stream record, summary and frames of each attempt
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local NAMES = { 'kind', 'current_attempt_index', 'terminal_outcome', 'streamed', 'blocked_on', 'flow_id' }
local kind, current, outcome, streamed, blocked_on, flow_id = unpack(call('HMGET', core, unpack(NAMES)))
if not kind or blocked_on == 'staging' and flow_record.is_staged(flow_id) then
  return no.execution_not_found()
end
local made, parts = current and tonumber(current) + 1 or 0, {}
for nth = attempt, math.min(made, attempt + attempts) - 1 do
  local index = text(nth)
  local ended = call('HMGET', keys.attempt(id, index), 'ended_at', 'outcome')
  local meta = streamed and call('HGETALL', keys.stream_meta(id, index)) or {}
  local document, frames = false, {}
  if meta[1] then
    document = call('HGET', keys.stream_summary(id, index), 'document')
    frames, limit, room = stream.frames(id, index, nth == attempt and from or 0, limit, room)
  end
  parts[#parts + 1] = { index, ended[1] or '', ended[2] or '', meta, document, frames }
end
return ok(text(made), outcome or '', parts)
