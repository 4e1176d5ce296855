--- Key names. Each contains the tag of the call's first key, so that all of them lie in one slot. Names for a partition and its lanes are
--- cached.

local keys = {}

local function remember(names, name, key)
  local memory = here.memory
  if memory.named >= limits.names_remembered then
    memory.names, memory.lanes, memory.tag_prefixes, memory.named = {}, {}, {}, 0
  end
  memory.named = memory.named + 1
  names[name] = key
  return key
end

function keys.of(id, what)
  return here.memory.executions .. id .. ':' .. what
end

--- Returns the id in the key of an execution's core.
function keys.id(core)
  return core:sub(#here.tag + 10, -6)
end

function keys.attempt(id, nth)
  return here.memory.attempts .. id .. ':' .. nth
end

--- Returns the key of an attempt's output. The next two are its record and its summary document.
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

--- Returns the key of the signals that a waitpoint received.
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

--- Returns the key of the feed of delivered signals.
function keys.deliveries()
  return 'ff:part:' .. here.tag .. ':signal_delivery'
end

--- Returns the index of executions in a namespace whose usage is not yet known to be counted by budgets.
function keys.usage_backlog(namespace)
  return 'ff:idx:' .. here.tag .. ':ns:' .. namespace .. ':usage'
end

--- Returns the key of the quota policies of a namespace, as the partition knows them.
function keys.quotas(namespace)
  return 'ff:part:' .. here.tag .. ':quotas:' .. namespace
end

--- Returns the key of the queue of a singleton or debounce key.
function keys.key_queue(namespace, name)
  return 'ff:part:' .. here.tag .. ':key_queue:' .. namespace .. ':' .. name
end

--- Returns the key of the event feed. `followed` stores since when and until when events are recorded.
function keys.events()
  return 'ff:part:' .. here.tag .. ':events'
end

function keys.followed()
  return 'ff:part:' .. here.tag .. ':followed'
end

--- Returns the index of a tenant's executions. The next three select a state, a blocking reason or a tag.
function keys.tenant(namespace)
  return keys.index('ns:' .. namespace .. ':executions')
end

function keys.in_state(namespace, state)
  return keys.index('ns:' .. namespace .. ':state:' .. state)
end

function keys.in_reason(namespace, reason)
  return keys.index('ns:' .. namespace .. ':reason:' .. reason)
end

function keys.tag(namespace, key, value)
  local prefixes = here.memory.tag_prefixes
  local prefix = prefixes[namespace]
    or remember(prefixes, namespace, 'ff:idx:' .. here.tag .. ':tag:' .. namespace .. ':')
  return prefix .. key .. ':' .. value
end

--- Returns the key of the secrets that sign tokens.
function keys.secrets()
  return 'ff:sec:' .. here.tag .. ':waitpoint_hmac'
end

--- Returns a key of a flow.
function keys.flow(id, what)
  return 'ff:flow:' .. here.tag .. ':' .. id .. ':' .. what
end

--- Returns the id in the key of a flow's core.
function keys.flow_id(core)
  return core:sub(#here.tag + 10, -6)
end

--- Returns the key of an edge as its downstream member stores it.
function keys.dep_edge(id, edge_id)
  return keys.of(id, 'dep:' .. edge_id)
end

--- Returns the uuid of an execution, which identifies it within its partition. `execution` is the inverse.
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

--- Returns the prefix of a lane's keys. Keys made with it are not cached, for callers that look at many lanes once.
function keys.lane_prefix(lane)
  return 'ff:idx:' .. here.tag .. ':lane:' .. lane .. ':'
end

--- Returns the queue of a lane over all kinds; `queue` returns the one of a single kind. Work without requirements has no class.
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

--- Returns the queue of all keyed work of a fair lane; `queue_of_key` returns the one of a kind, class and key. A class has no space, so
--- the first space ends it.
function keys.waiting_keyed(lane)
  return keys.lane(lane, 'eligible_keyed')
end

function keys.queue_of_key(lane, kind, class, key)
  return keys.lane_prefix(lane) .. 'eligible:kind:' .. kind .. ':class:' .. (class or '') .. ' key:' .. key
end

--- Returns the turn of a key of a fair lane. The next three hold keys by turn: with waiting work of a kind and class, with waiting work of
--- a class, and without waiting work.
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

--- Returns the index of executions of a kind and class that no live worker can run.
function keys.unroutable(lane, kind, class)
  return keys.lane(lane, 'blocked:route:kind:' .. kind .. ':class:' .. class)
end

--- Returns the name of a queue in the list that sweeps use; a comma before the class marks blocked work. `queue_parts` returns the lane,
--- kind and class of a name.
function keys.queue_name(lane, kind, class)
  return lane .. ':' .. kind .. (class and ':' .. class or '')
end

function keys.queue_parts(name)
  local lane, kind, class = name:match('^(.-):([^:]*):?(.*)$')
  return lane, kind, class ~= '' and class or nil
end

return keys
