--- Reads the signals of an execution, oldest first: a page of them, or one.
---
--- key  core          hash
--- arg  signal_id     uuid?   only this one, when given
--- arg  skip          int
--- arg  limit         int
--- arg  with_payload  flag
---
--- ok   count         number of signals the execution has received
--- ok   signals       id, fields and payload of each
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
if call('EXISTS', core) == 0 then
  return no.execution_not_found()
end
local all, ids = keys.of(id, 'signals'), {}
if not signal_id and limit > 0 then
  ids = call('ZRANGE', all, skip, skip + limit - 1)
elseif signal_id and call('ZSCORE', all, signal_id) then
  ids = { signal_id }
end
local signals = {}
for nth, each in ipairs(ids) do
  signals[nth] = signal.read(each, with_payload)
end
return ok(text(call('ZCARD', all)), signals)
