--- Reads the stored state of an execution in one consistent snapshot.
---
--- key  core          hash
--- arg  with_payload  flag
--- arg  with_result   flag
--- arg  with_history  flag    its attempts and its leases
--- arg  await_end     flag    whether a hint is wanted when it ends
--- arg+ staged        flag    also returns a staged execution, which is not visible yet
---
--- ok   core          names and values, and those of its grant with the prefix `claim_grant:`
--- ok   lease         names and values, empty when it has none
--- ok   attempt       names and values of the last stored attempt, empty when it is not needed
--- ok   tags          keys and values
--- ok   policy        JSON, null for the default policy
--- ok   payload_bytes size of the payload
--- ok   payload       null when not requested
--- ok   result        null when there is none or it was not requested
--- ok   attempts      names and values of each stored attempt, oldest first
--- ok   leases        history of ended leases, oldest first
--- ok   waits         its suspension, that one's tally, the last suspension, number of signals; null when it never had a waitpoint
--- ok   membership    state of its dependencies, and number of its dependents; null when it is in no flow
--- ok   spent         usage of each attempt, oldest first; empty when there is none
--- no   execution_not_found
--- no   invalid_args
--- flag no-writes

local id = keys.id(core)
local fields = call('HGETALL', core)
if #fields == 0 then
  return no.execution_not_found()
end
local NAMES = {
  'current_attempt_index', 'next_attempt', 'terminal_outcome', 'has_waited', 'flow_id', 'blocked_on', 'payload_bytes',
  'usage',
}
local current, put_off, outcome, has_waited, flow_id, blocked_on, payload_bytes, usage_kept = unpack(call('HMGET', core, unpack(NAMES)))
if blocked_on == 'staging' and not staged and flow_record.is_staged(flow_id) then
  return no.execution_not_found()
end
if blocked_on == 'assignment' then
  local grant = call('HGETALL', keys.of(id, 'claim_grant'))
  for nth = 1, #grant, 2 do
    fields[#fields + 1], fields[#fields + 2] = 'claim_grant:' .. grant[nth], grant[nth + 1]
  end
end
if await_end and not outcome then
  hint.await(id)
end
local attempts, leases, spent = {}, {}, {}
for nth = 0, usage_kept and tonumber(current or -1) or -1 do
  spent[nth + 1] = call('HGETALL', keys.attempt(id, nth) .. ':usage')
end
if with_history then
  for nth = 0, tonumber(current or -1) do
    attempts[nth + 1] = call('HGETALL', keys.attempt(id, nth))
  end
  leases = call('LRANGE', keys.of(id, 'lease:history'), 0, -1)
end
return ok(
  fields,
  call('HGETALL', keys.of(id, 'lease:current')),
  (put_off == 'resume' or outcome == 'success') and call('HGETALL', keys.attempt(id, current)) or {},
  call('HGETALL', keys.of(id, 'tags')),
  call('GET', keys.of(id, 'policy')),
  payload_bytes or call('STRLEN', keys.of(id, 'payload')),
  with_payload and call('GET', keys.of(id, 'payload')),
  with_result and call('GET', keys.of(id, 'result')),
  attempts,
  leases,
  has_waited and {
    call('HGETALL', keys.of(id, 'suspension:current')),
    call('HGETALL', keys.of(id, 'suspension:tally')),
    call('HGETALL', keys.of(id, 'suspension:last')),
    signal.count(id),
  },
  flow_id and { call('HGETALL', keys.of(id, 'deps:meta')), call('SCARD', keys.flow(flow_id, 'out:' .. id)) },
  spent
)
