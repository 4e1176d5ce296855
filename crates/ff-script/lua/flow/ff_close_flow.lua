--- Closes a flow, so that it ends with its last member. A flow that is not held open stays as it is.
---
--- key  core   hash
---
--- ok   state
--- no   flow_not_found
--- no   invalid_args
--- flag allow-oom             a full server must still be able to end what is there

now()
local flow, refusal = flow_record.found(keys.flow_id(core))
if not flow then
  return refusal
elseif not flow.core.held_open then
  return already(flow_record.state(flow))
end
flow_record.put(flow, 'held_open', nil)
flow_record.add_event(flow, 'closed')
step.run()
return ok(flow_record.state(flow))
