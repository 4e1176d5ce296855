--- Completion: ends the running attempt of an execution, with a result if there is one.
---
--- A batch writes the results and indexes of all completions of one call together.

local complete = {}

--- Fields about an earlier lease, which a completion removes.
local OVER = { 'last_lease_ended', 'last_lease_until', 'failure_category', 'failure_message', 'failure_permanent' }

--- Starts a batch. `moment` and `until_ms`, the end of the default retention, are also stored as text. `results` holds keys and values in
--- turn, `lanes` ids by lane and holder, `kept` times and ids in turn, and `first` the earliest of these times.
function complete.begin(moment)
  local until_ms = moment + limits.retention_ms
  return {
    moment = moment,
    at = text(moment),
    until_ms = until_ms,
    until_text = text(until_ms),
    results = {},
    lanes = {},
    kept = {},
    first = until_ms,
  }
end

--- Completes an execution whose end also changes its flow, waitpoints, stream or key queue.
local function end_linked(id, result, result_type, moment)
  local e = record.load(id)
  e.result_bytes = result and #result or nil
  record.put_if_given(e, 'result_type', result_type)
  finish(e, { outcome = 'success', state = 'completed', lease = 'completed', attempt = 'success' }, moment)
  record.save(e)
end

local function hold_no_longer(batch, id, lane, holder)
  local of_lane = batch.lanes[lane]
  if not of_lane then
    of_lane = {}
    batch.lanes[lane] = of_lane
  end
  local ids = of_lane[holder]
  if ids then
    ids[#ids + 1] = id
  else
    of_lane[holder] = { id }
  end
end

--- Adds an execution to the retention list. `words` are the special properties of the end of its lease.
local function keep(batch, id, words)
  local kept, until_ms = batch.kept, batch.until_text
  if words.kept or words['until'] then
    until_ms = math.max(batch.moment + (words.kept or limits.retention_ms), words['until'] or 0)
    batch.first = math.min(batch.first, until_ms)
  end
  local count = #kept
  kept[count + 1], kept[count + 2] = until_ms, id
end

--- Parses the special properties of the end of a lease: each word, with its number or true.
local function words_of(ending)
  local words = {}
  for word, number in ending:gmatch('(%a+):?(%d*)') do
    words[word] = tonumber(number) or true
  end
  return words
end

local NOTHING = {}

--- Turns the lease into the record of its attempt.
local function end_attempt(id, held_key, words, moment, at)
  local key = keys.attempt(id, words.index or '0')
  call('RENAME', held_key, key)
  if words.ran then
    local ran_ms = words.ran + math.max(0, moment - call('HGET', key, 'acquired_at'))
    call('HSET', key, 'ended_at', at, 'outcome', 'success', 'ran_ms', ran_ms)
  else
    call('HSET', key, 'ended_at', at, 'outcome', 'success')
  end
end

--- Completes one execution and adds it to a batch, or returns the refusal. A repeated call with the fence that completed it gets the same
--- answer.
---
--- The lease holds all the data that is needed, so the common case reads nothing else.
function complete.one(batch, id, lease_id, attempt, result, result_type)
  local moment, at = batch.moment, batch.at
  local held_key = keys.of(id, 'lease:current')
  local held_id, held_attempt, expires_at, holder, lane, deadline_at, ending
  if not step.is_changed(id) then
    held_id, held_attempt, expires_at, holder, lane, deadline_at, ending = unpack(call(
      'HMGET', held_key, 'lease_id', 'attempt', 'expires_at', 'holder', 'lane', 'deadline_at', 'ending'
    ))
  end
  if held_id ~= lease_id or held_attempt ~= attempt or moment >= tonumber(expires_at) then
    local refusal, ended = lease.refusal(id, lease_id, attempt)
    return ended ~= 'completed' and refusal or nil
  end
  if result then
    local results = batch.results
    local count = #results
    results[count + 1], results[count + 2] = keys.of(id, 'result'), result
  end
  local words = ending and words_of(ending) or NOTHING
  if words.linked then
    return end_linked(id, result, result_type, moment)
  end

  local core = keys.of(id, 'core')
  if result_type then
    call(
      'HSET', core, 'public_state', 'completed', 'terminal_outcome', 'success', 'changed_at', at, 'result_type', result_type
    )
  else
    call('HSET', core, 'public_state', 'completed', 'terminal_outcome', 'success', 'changed_at', at)
  end
  if not lease.is_first(attempt) then
    call('HSET', core, 'last_lease_id', lease_id, 'last_attempt', attempt)
    call('HDEL', core, unpack(OVER))
  end
  if words.slots then
    hint.slots_freed(id, attempt, call('HGET', held_key, 'slots'))
  end
  end_attempt(id, held_key, words, moment, at)

  lane = lane or 'default'
  hold_no_longer(batch, id, lane, holder)
  keep(batch, id, words)
  if words.timeout then
    index.untime_attempt(id)
  end
  index.unbound(deadline_at, id)
  if words.limited then
    hint.freed(lane)
  end
  if event_feed.is_followed() then
    event_feed.about(id, lane, call('HGET', core, 'kind'), nil, 'event', 'finished', 'outcome', 'success')
  end
  hint.ended(id)
end

--- Writes the results and the indexes of a batch.
function complete.write(batch)
  if batch.results[1] then
    call('MSET', unpack(batch.results))
  end
  for lane, of_lane in pairs(batch.lanes) do
    for holder, ids in pairs(of_lane) do
      index.finish_all(lane, lease.instance(holder), batch.at, ids)
    end
  end
  if batch.kept[1] then
    index.keep_all(batch.kept, batch.first)
  end
end

return complete
