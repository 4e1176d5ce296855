--- The names of keys. Each is made with the tag of the call's first key, so that all of them lie in one slot. Those of a
--- partition and its lanes are made once and remembered.

local keys = {}

local function remember(names, name, key)
  local memory = here.memory
  if memory.named >= limits.names_remembered then
    memory.names, memory.lanes, memory.label_prefixes, memory.named = {}, {}, {}, 0
  end
  memory.named = memory.named + 1
  names[name] = key
  return key
end

function keys.of(id, what)
  return 'ff:exec:' .. here.tag .. ':' .. id .. ':' .. what
end

--- The id in the key of an execution's core.
function keys.id(core)
  return core:sub(#here.tag + 10, -6)
end

function keys.attempt(id, nth)
  return 'ff:attempt:' .. here.tag .. ':' .. id .. ':' .. nth
end

--- What an attempt puts out, what is known of it, and the document of a summary.
function keys.stream(id, nth)
  return 'ff:stream:' .. here.tag .. ':' .. id .. ':' .. nth
end

function keys.stream_meta(id, nth)
  return keys.stream(id, nth) .. ':meta'
end

function keys.stream_summary(id, nth)
  return keys.attempt(id, nth) .. ':summary'
end

function keys.idempotency(namespace, key)
  return 'ff:idem:' .. here.tag .. ':' .. namespace .. ':' .. key
end

function keys.waitpoint(id)
  return 'ff:wp:' .. here.tag .. ':' .. id
end

--- The signals a waitpoint received.
function keys.waitpoint_signals(id)
  return keys.waitpoint(id) .. ':signals'
end

function keys.signal(id)
  return 'ff:signal:' .. here.tag .. ':' .. id
end

function keys.signal_payload(id)
  return keys.signal(id) .. ':payload'
end

function keys.signal_dedup(waitpoint_id, idempotency_key)
  return 'ff:sigdedup:' .. here.tag .. ':' .. waitpoint_id .. ':' .. idempotency_key
end

function keys.suspend_dedup(id, idempotency_key)
  return 'ff:dedup:suspend:' .. here.tag .. ':' .. id .. ':' .. idempotency_key
end

--- The feed of delivered signals.
function keys.deliveries()
  return 'ff:part:' .. here.tag .. ':signal_delivery'
end

--- The executions of a namespace whose usage budgets may not have counted.
function keys.usage_backlog(namespace)
  return 'ff:idx:' .. here.tag .. ':ns:' .. namespace .. ':usage'
end

--- The quota policies of a namespace, as the partition knows them.
function keys.quotas(namespace)
  return 'ff:part:' .. here.tag .. ':quotas:' .. namespace
end

--- The live executions of a singleton or debounce key.
function keys.key_queue(namespace, name)
  return 'ff:part:' .. here.tag .. ':key_queue:' .. namespace .. ':' .. name
end

--- The feed of events, and since when and until when events are recorded.
function keys.events()
  return 'ff:part:' .. here.tag .. ':events'
end

function keys.followed()
  return 'ff:part:' .. here.tag .. ':followed'
end

--- The executions of a tenant; those of it in a state; those that wait for something admission asks for; and those of it with a label.
function keys.tenant(namespace)
  return keys.index('ns:' .. namespace .. ':executions')
end

function keys.in_state(namespace, state)
  return keys.index('ns:' .. namespace .. ':state:' .. state)
end

function keys.in_reason(namespace, reason)
  return keys.index('ns:' .. namespace .. ':reason:' .. reason)
end

function keys.label(namespace, key, value)
  local prefixes = here.memory.label_prefixes
  local prefix = prefixes[namespace]
    or remember(prefixes, namespace, 'ff:idx:' .. here.tag .. ':tag:' .. namespace .. ':')
  return prefix .. key .. ':' .. value
end

--- The secrets tokens are signed under.
function keys.secrets()
  return 'ff:sec:' .. here.tag .. ':waitpoint_hmac'
end

--- A key of a flow.
function keys.flow(id, what)
  return 'ff:flow:' .. here.tag .. ':' .. id .. ':' .. what
end

--- The id in the key of a flow's core.
function keys.flow_id(core)
  return core:sub(#here.tag + 10, -6)
end

--- An edge as its child sees it.
function keys.dep_edge(id, edge_id)
  return keys.of(id, 'dep:' .. edge_id)
end

--- The uuid of an execution of this partition, which is enough to tell it from others here; and the execution of a uuid.
function keys.uuid(id)
  return id:sub(#here.tag + 2)
end

function keys.execution(uuid)
  return here.tag .. ':' .. uuid
end

function keys.clock()
  return 'ff:part:' .. here.tag .. ':clock'
end

function keys.index(what)
  local names = here.memory.names
  return names[what] or remember(names, what, 'ff:idx:' .. here.tag .. ':' .. what)
end

function keys.worker_leases(instance)
  local names = here.memory.names
  return names[instance] or remember(names, instance, 'ff:idx:' .. here.tag .. ':worker:' .. instance .. ':leases')
end

function keys.lane(lane, what)
  local lanes = here.memory.lanes
  local names = lanes[lane] or remember(lanes, lane, {})
  return names[what] or remember(names, what, 'ff:idx:' .. here.tag .. ':lane:' .. lane .. ':' .. what)
end

--- The prefix of a lane's keys. Keys made with it are not cached, for callers that look at many lanes once.
function keys.lane_prefix(lane)
  return 'ff:idx:' .. here.tag .. ':lane:' .. lane .. ':'
end

--- What waits in a lane: of any kind, and of one. Work that requires nothing of its worker has no class.
function keys.waiting(lane, class)
  return keys.lane(lane, class and 'eligible:class:' .. class or 'eligible')
end

function keys.queue(lane, kind, class)
  if class then
    return keys.lane(lane, 'eligible:kind:' .. kind .. ':class:' .. class)
  end
  local lanes = here.memory.lanes
  local names = lanes[lane] or remember(lanes, lane, {})
  local queues = names.queues or remember(names, 'queues', {})
  return queues[kind] or remember(queues, kind, 'ff:idx:' .. here.tag .. ':lane:' .. lane .. ':eligible:' .. kind)
end

--- What waits in a fair lane under a key: under any, and of one kind, class and key. A class has no space, so that the first one ends it.
function keys.waiting_keyed(lane)
  return keys.lane(lane, 'eligible_keyed')
end

function keys.queue_of_key(lane, kind, class, key)
  return keys.lane_prefix(lane) .. 'eligible:kind:' .. kind .. ':class:' .. (class or '') .. ' key:' .. key
end

--- The turn of a key of a fair lane; and keys by their turns: of which something of a kind and class waits, of a class, and nothing.
function keys.turn(lane, key)
  return keys.lane_prefix(lane) .. 'turn:' .. key
end

function keys.turns(lane, kind, class)
  return keys.lane(lane, 'turns:kind:' .. kind .. ':class:' .. (class or ''))
end

function keys.turns_any(lane, class)
  return keys.lane(lane, 'turns:class:' .. (class or ''))
end

function keys.turns_idle(lane)
  return keys.lane(lane, 'turns:idle')
end

--- What is blocked of a kind and class because no live worker meets its requirements.
function keys.unroutable(lane, kind, class)
  return keys.lane(lane, 'blocked:route:kind:' .. kind .. ':class:' .. class)
end

--- A queue as the list that sweeps go by names it, a comma before the class when it is what is blocked; and the lane, kind and class of such a name.
function keys.queue_name(lane, kind, class)
  return lane .. ':' .. kind .. (class and ':' .. class or '')
end

function keys.queue_parts(name)
  local lane, kind, class = name:match('^(.-):([^:]*):?(.*)$')
  return lane, kind, class ~= '' and class or nil
end

return keys
