--- Streams: the output of attempts, frame by frame. A stream has a record (`meta`) from its first frame on. The id of an entry is one more
--- than the number of its frame, because no entry has the id zero.

local stream = {}

local NUMBERS = { 'max_frames', 'max_bytes', 'first', 'frame_count', 'bytes' }

--- A stream with a limit in bytes is trimmed a group at a time, and has about so many groups.
local GROUPS = 16

local function entry(seq)
  return text(seq + 1) .. '-0'
end

--- Returns the record of a stream with numbers converted, or nil. `groups` holds the number of each group's first frame and its bytes, in
--- turn.
function stream.load(id, nth)
  local meta = record.hash(keys.stream_meta(id, nth))
  if not meta then
    return nil
  end
  for _, name in ipairs(NUMBERS) do
    meta[name] = tonumber(meta[name])
  end
  local groups = {}
  for number in (meta.groups or ''):gmatch('%d+') do
    groups[#groups + 1] = tonumber(number)
  end
  meta.groups = groups
  return meta
end

--- Returns a stream without frames.
function stream.new(mode, max_frames, max_bytes, moment)
  return {
    mode = mode or 'durable', max_frames = max_frames, max_bytes = max_bytes, first = 0, frame_count = 0, bytes = 0,
    opened_at = moment, groups = {},
  }
end

local function differs(field, is)
  return no.invalid_input('field', field, 'detail', 'is ' .. is .. ' since the first frame and does not change')
end

--- Returns the refusal of a call that requests another kind of stream than there is.
function stream.unlike(found, mode, max_frames, max_bytes)
  if mode and mode ~= found.mode then
    return differs('mode', found.mode)
  elseif max_frames and max_frames ~= found.max_frames then
    return differs('max_frames', found.max_frames and text(found.max_frames) or 'unbounded')
  elseif max_bytes and max_bytes ~= found.max_bytes then
    return differs('max_bytes', found.max_bytes and text(found.max_bytes) or 'unbounded')
  end
end

--- Returns the refusal of frames that do not fit the stream. `frames` holds channel, type and bytes of each in turn.
function stream.refusal(found, frames)
  for nth = 1, #frames, 3 do
    local field, kind = 'frames[' .. text((nth - 1) / 3) .. ']', frames[nth + 1]
    if #frames[nth + 2] > limits.frame_bytes then
      local sent = text(#frames[nth + 2])
      return no.retention_limit_exceeded('field', field, 'limit', text(limits.frame_bytes), 'sent', sent)
    elseif (kind == 'patch') ~= (found.mode == 'summary') then
      local detail = 'a frame of type ' .. kind .. ' does not go into a stream of mode ' .. found.mode
      return no.invalid_frame_type('field', field .. '.type', 'detail', detail)
    end
  end
end

local function group(found, seq, bytes)
  local groups = found.groups
  if groups[1] and groups[#groups] < math.floor(found.max_bytes / GROUPS) then
    groups[#groups] = groups[#groups] + bytes
  else
    groups[#groups + 1] = seq
    groups[#groups + 1] = bytes
  end
end

--- Returns the number of the first frame that stays.
local function trimmed(found)
  local kept = found.max_frames
  if found.mode == 'summary' then
    kept = limits.summary_patches
  elseif found.mode == 'best_effort' then
    kept = limits.best_effort_frames
  end
  local first, groups, held = math.max(found.first, kept and found.frame_count - kept or 0), found.groups, 0
  for nth = 2, #groups, 2 do
    held = held + groups[nth]
  end
  while groups[3] and (held > found.max_bytes or groups[3] <= first) do
    held = held - groups[2]
    table.remove(groups, 1)
    table.remove(groups, 1)
    first = math.max(first, groups[1])
  end
  return first
end

local function write_meta(id, nth, found, moment)
  local meta = { 'mode', found.mode, 'first', text(found.first), 'frame_count', text(found.frame_count) }
  append(meta, 'bytes', text(found.bytes))
  append(meta, 'opened_at', found.opened_at)
  append(meta, 'appended_at', moment)
  append(meta, 'max_frames', found.max_frames and text(found.max_frames))
  append(meta, 'max_bytes', found.max_bytes and text(found.max_bytes))
  append(meta, 'groups', found.groups[1] and table.concat(found.groups, ' '))
  call('HSET', keys.stream_meta(id, nth), unpack(meta))
end

--- Adds frames from item `from` of the list on, and trims the frames that no longer stay.
function stream.append(id, nth, found, frames, from, moment)
  local key, first, next_seq = keys.stream(id, nth), found.first, found.frame_count
  local added = next_seq
  for at = from, #frames, 3 do
    local bytes = #frames[at + 2]
    if found.max_bytes then
      group(found, added, bytes)
    end
    found.bytes, added = found.bytes + bytes, added + 1
  end
  found.frame_count = added
  found.first = trimmed(found)
  for at = from, #frames, 3 do
    if next_seq >= found.first then
      local fields = { 'frame_type', frames[at + 1], 'ts', moment, 'payload', frames[at + 2] }
      append(fields, 'channel', frames[at] ~= 'out' and frames[at])
      call('XADD', key, entry(next_seq), unpack(fields))
    end
    next_seq = next_seq + 1
  end
  if found.first > first then
    call('XTRIM', key, 'MINID', entry(found.first))
  end
  write_meta(id, nth, found, moment)
  hint.streamed(id)
end

--- Stores the document of a summary, with its version.
function stream.summarise(id, nth, found, document)
  call('HSET', keys.stream_summary(id, nth), 'document', document, 'version', text(found.frame_count))
end

--- Number of entries per read.
local AT_ONCE = 250

--- Returns the frames of an attempt from a number on: no more than `limit`, and no further read after `room` bytes. Also returns what is
--- left of both.
function stream.frames(id, nth, from, limit, room)
  local found = {}
  while limit > 0 and room > 0 do
    local wanted = math.min(limit, AT_ONCE)
    local some = call('XRANGE', keys.stream(id, nth), entry(from), '+', 'COUNT', wanted)
    for _, one in ipairs(some) do
      found[#found + 1] = one
      from = tonumber(one[1]:match('^%d+'))
      for at = 1, #one[2], 2 do
        room = room - (one[2][at] == 'payload' and #one[2][at + 1] or 0)
      end
    end
    limit = limit - #some
    if #some < wanted then
      break
    end
  end
  return found, limit, room
end

--- Returns when and how an attempt ended, from the fields to be written of it.
local function outcome_of(attempt)
  local ended_at, outcome
  for at = 1, #(attempt or {}), 2 do
    ended_at = attempt[at] == 'ended_at' and attempt[at + 1] or ended_at
    outcome = attempt[at] == 'outcome' and attempt[at + 1] or outcome
  end
  return ended_at, outcome
end

--- Closes the stream of an attempt that ended, and gives readers a hint if the attempt ended or the execution moved.
function stream.moved(e, is_elsewhere)
  local ended_at, outcome = outcome_of(e.attempt)
  local meta = outcome and keys.stream_meta(e.id, e.core.current_attempt_index)
  if meta and call('EXISTS', meta) == 1 then
    call('HSET', meta, 'closed_at', ended_at, 'closed_reason', outcome)
  end
  if outcome or is_elsewhere then
    hint.streamed(e.id)
  end
end

return stream
