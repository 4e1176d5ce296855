--- Reads the summary of an attempt's stream.
---
--- key  core      hash
--- arg  attempt   int?   the last attempt when absent
---
--- ok   version   number of frames, 0 when there is no stream
--- ok   mode      empty when there is no stream
--- ok   document  null when the stream is not of mode summary
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
if call('EXISTS', core) == 0 then
  return no.execution_not_found()
end
local nth = attempt and text(attempt) or call('HGET', core, 'current_attempt_index') or '0'
local found = stream.load(id, nth)
if not found then
  return ok('0', '', false)
end
return ok(text(found.frame_count), found.mode, call('HGET', keys.stream_summary(id, nth), 'document'))
