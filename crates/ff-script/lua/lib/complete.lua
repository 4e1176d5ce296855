--- Ends the running attempt of an execution with a result, if there is one. Asked again with the fence that ended it,
--- answers as the first time.
---
--- The end of a plain first try is added to `plain`, which has ids by lane and holder, for its indexes to be written with
--- those of others.

return function(id, lease_id, attempt, result, result_type, plain, moment)
  local core, held_key = keys.of(id, 'core'), keys.of(id, 'lease:current')
  local held = step.is_changed(id) and {}
    or call('HMGET', held_key, 'lease_id', 'attempt', 'expires_at', 'holder', 'lane', 'rare')
  if held[1] ~= lease_id or held[2] ~= attempt or moment >= tonumber(held[3]) then
    local refusal, ended = lease.refusal(id, lease_id, attempt)
    return ended == 'completed' and ok('completed') or refusal
  end
  if result then
    call('SET', keys.of(id, 'result'), result)
    if result_type then
      call('HSET', core, 'result_type', result_type)
    end
  end
  if held[6] then
    local e = record.load(id)
    e.result_bytes = result and #result or nil
    finish(e, { outcome = 'success', state = 'completed', lease = 'completed', attempt = 'success' }, moment)
    record.save(e)
    return ok('completed')
  end

  -- The lease of a plain first try has all there is to know, so nothing else is read, and it becomes the try's record.
  local attempt_key, lane = keys.attempt(id, '0'), held[5] or 'default'
  call('HSET', core, 'public_state', 'completed', 'terminal_outcome', 'success', 'changed_at', moment)
  call('RENAME', held_key, attempt_key)
  call('HSET', attempt_key, 'ended_at', moment, 'outcome', 'success')
  local of_lane = plain[lane] or {}
  local ids = of_lane[held[4]] or {}
  plain[lane], of_lane[held[4]], ids[#ids + 1] = of_lane, ids, id
  if event_feed.is_followed() then
    event_feed.plainly(id, lane, call('HGET', core, 'kind'), 'event', 'finished', 'outcome', 'success')
  end
  hint.ended(id)
  return ok('completed')
end
