--- Reads events of a flow from a number on, a page at a time.
---
--- key  core        hash
--- arg  from        int    number of the first event
--- arg  limit       int
--- arg  await_more  flag   whether a hint is wanted when there is more
--- arg+ staged      flag   also of a flow that is staged or being forgotten
---
--- ok   told        number of events so far
--- ok   ended       1 when the flow has ended
--- ok   first       number of the oldest stored event, empty when there is none
--- ok   events      number and fields of each event
--- no   flow_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.flow_id(core)
local told, ended_at = unpack(call('HMGET', core, 'events', 'ended_at'))
if not flow_record.is_there(core, staged) then
  return no.flow_not_found()
elseif await_more then
  hint.await_events(id)
end
local key = keys.flow(id, 'events')
local first = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
local events = call('XRANGE', key, text(from) .. '-1', '+', 'COUNT', math.min(limit, limits.flow_events_at_once))
for nth, event in ipairs(events) do
  events[nth] = { event[1]:match('^%d+'), event[2] }
end
return ok(told, ended_at and '1' or '', first and first[1]:match('^%d+') or '', events)
