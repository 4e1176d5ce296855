--- Reads the stored state of a flow in one consistent snapshot.
---
--- key  core       hash
--- arg  staged     flag   also a flow that is staged or being forgotten
--- arg  await_end  flag   whether a hint is wanted when it ends
---
--- ok   core       names and values
--- ok   summary    states and counts
--- ok   tags       keys and values
--- no   flow_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.flow_id(core)
if not flow_record.is_there(core, staged) then
  return no.flow_not_found()
elseif await_end and not call('HGET', core, 'ended_at') then
  hint.await(id)
end
return ok(call('HGETALL', core), call('HGETALL', keys.flow(id, 'summary')), call('HGETALL', keys.flow(id, 'tags')))
