--- Indexes follow from the record: each state has one way in and one way out. Only this file and `flow_index`, `route_index`, `turns` and
--- `usage` write them.

local index = {}

--- The weight of a priority step, in milliseconds of age.
local PRIORITY_WEIGHT = 1e12

--- Larger than the difference between clocks, and smaller than a priority step.
local DAY_MS = 86400000

--- Changes of several executions to an index are written together: members by key for each command, and all of these lists in order. A call
--- about one execution collects nothing.
local added, removed, left, order

--- The queues that grew since then, by key.
local grown

function index.begin()
  added, removed, left, order, grown = nil, nil, nil, nil, nil
end

--- Starts to collect changes, until they are flushed.
function index.collect()
  if not order then
    added, removed, left, order, grown = {}, {}, {}, {}, {}
  end
end

--- Starts the list of members that a command has for a key.
local function collected(by_key, command, key)
  local members = { command = command, key = key }
  by_key[key], order[#order + 1] = members, members
  return members
end

local function add(key, score, id)
  if not order then
    return call('ZADD', key, score, id)
  end
  local members = added[key] or collected(added, 'ZADD', key)
  local count = #members
  members[count + 1], members[count + 2] = score, id
end

local function change(by_key, command, key, id)
  if not order then
    return call(command, key, id)
  end
  local members = by_key[key] or collected(by_key, command, key)
  members[#members + 1] = id
end

local function remove(key, id)
  change(removed, 'ZREM', key, id)
end

index.add, index.remove = add, remove

--- Adds a time that listeners may have to know.
local function add_due(name, at, id)
  add(keys.index(name), at, id)
  hint.due(name, at)
end

--- Adds an execution to the index of all, and to its namespace's. The default namespace has no index of its own.
function index.create(namespace, created_at, id)
  add(keys.index('all_executions'), created_at, id)
  if namespace and namespace ~= 'default' then
    add(keys.tenant(namespace), created_at, id)
  end
end

--- Removes an execution from these indexes.
function index.uncreate(namespace, id)
  remove(keys.index('all_executions'), id)
  if namespace and namespace ~= 'default' then
    remove(keys.tenant(namespace), id)
  end
end

--- Waiting, active, completed and staged executions have no per-state index.
local UNLISTED = { waiting = true, active = true, completed = true, none = true, staged = true }

--- The public state of executions blocked by admission, by place.
local BLOCKED = {
  ['blocked:route'] = 'waiting',
  ['blocked:quota'] = 'rate_limited',
  ['blocked:budget'] = 'rate_limited',
  ['blocked:operator'] = 'waiting',
  ['blocked:assignment'] = 'waiting',
}

--- Moves an execution from one state to another, or between places within a state.
function index.restate(namespace, from, to, created_at, id)
  from, to = BLOCKED[from] or from, BLOCKED[to] or to
  if from == to then
    return
  end
  if not UNLISTED[from] then
    remove(keys.in_state(namespace or 'default', from), id)
  end
  if not UNLISTED[to] then
    add(keys.in_state(namespace or 'default', to), created_at, id)
  end
end

--- Moves an execution from one blocking reason to another; nil stands for none.
function index.reason(namespace, from, to, created_at, id)
  if from then
    remove(keys.in_reason(namespace or 'default', from), id)
  end
  if to then
    add(keys.in_reason(namespace or 'default', to), created_at, id)
  end
end

--- Adds an execution to the index of a tag; `untag` removes it.
function index.tag(namespace, key, value, created_at, id)
  add(keys.tag(namespace or 'default', key, value), created_at, id)
end

function index.untag(namespace, key, value, id)
  remove(keys.tag(namespace or 'default', key, value), id)
end

--- Keeps a finished execution until a time. `unkeep` removes an execution that is replayed or gone.
function index.keep(until_ms, id)
  add_due('retention', until_ms, id)
end

function index.unkeep(id)
  remove(keys.index('retention'), id)
end

--- Returns the priority, counted from the highest, and the creation time that a queue score encodes.
function index.head(score, moment)
  local priority = math.floor((moment + DAY_MS - score) / PRIORITY_WEIGHT)
  return limits.priority_max - priority, score + priority * PRIORITY_WEIGHT
end

--- Returns the score range of one priority: above the first, and at most the second.
function index.scores(priority, moment)
  local highest = moment + DAY_MS - priority * PRIORITY_WEIGHT
  return highest - PRIORITY_WEIGHT, highest
end

function index.forget_queues()
  here.memory.waiting, here.memory.known = {}, 0
end

--- Returns the length of a queue before it grew. A queue this server has not seen is added to the list that sweeps use.
local function count_before(queue, lane, kind, class, by)
  local memory = here.memory
  local count = memory.waiting[queue]
  if count then
    return count
  end
  if memory.known >= limits.queues_remembered then
    index.forget_queues()
  end
  memory.known = memory.known + 1
  call('SADD', keys.index('lanes'), keys.queue_name(lane, kind, class))
  return call('ZCARD', queue) - by
end

--- Counts the growth of a queue. Announces a queue that was empty, with its best entry.
local function grew(queue, lane, kind, class, by, best)
  local count = count_before(queue, lane, kind, class, by)
  here.memory.waiting[queue] = count + by
  if count == 0 then
    hint.ready(lane, kind, class, index.head(best, here.memory.moment))
  end
end

--- Returns the score of an execution in a queue: the highest priority first, then the oldest.
function index.score(priority, created_at)
  return created_at - priority * PRIORITY_WEIGHT
end

--- Adds an execution to the queues that workers claim from. Listeners may need a hint.
function index.wait(lane, kind, class, priority, created_at, id)
  local score = index.score(priority, created_at)
  local queue = keys.queue(lane, kind, class)
  add(keys.waiting(lane, class), score, id)
  add(queue, score, id)
  if not order then
    return grew(queue, lane, kind, class, 1, score)
  end
  local growth = grown[queue]
  if growth then
    growth.by, growth.best = growth.by + 1, math.min(growth.best, score)
  else
    grown[queue] = { lane = lane, kind = kind, class = class, by = 1, best = score }
  end
end

--- Moves a waiting execution within its queues. If it moves forward, listeners may need a hint.
function index.rank(lane, kind, class, priority, created_at, id, is_better)
  local score = index.score(priority, created_at)
  add(keys.waiting(lane, class), score, id)
  add(keys.queue(lane, kind, class), score, id)
  if is_better then
    hint.ready(lane, kind, class, index.head(score, here.memory.moment))
  end
end

function index.unwait(lane, kind, class, id)
  local queue, waiting = keys.queue(lane, kind, class), here.memory.waiting
  remove(keys.waiting(lane, class), id)
  remove(queue, id)
  if waiting[queue] and waiting[queue] > 0 then
    waiting[queue] = waiting[queue] - 1
  end
end

--- Adds a delayed execution, due at `until_ms`.
function index.delay(lane, until_ms, id)
  add(keys.lane(lane, 'delayed'), until_ms, id)
  add_due('delayed', until_ms, id)
end

function index.undelay(lane, id)
  remove(keys.lane(lane, 'delayed'), id)
  remove(keys.index('delayed'), id)
end

--- Sets when an attempt times out.
function index.time_out(timeout_at, id)
  add_due('attempt_timeout', timeout_at, id)
end

--- Extends the lease of an execution.
function index.renew(expires_at, id)
  add(keys.index('lease_expiry'), expires_at, id)
  hint.due('lease_expiry', expires_at)
end

function index.release(lane, instance, timeout_at, id)
  remove(keys.lane(lane, 'active'), id)
  change(left, 'SREM', keys.worker_leases(instance), id)
  remove(keys.index('lease_expiry'), id)
  if timeout_at then
    index.untime_attempt(id)
  end
end

--- Ids with the same score, as command arguments. The list is reused by every call.
local members = {}

local function scored(score, ids)
  local count = #ids
  for nth = 1, count do
    members[2 * nth - 1], members[2 * nth] = score, ids[nth]
  end
  return unpack(members, 1, 2 * count)
end

--- Adds new executions of one kind, class and priority that wait for a worker.
function index.wait_all(namespace, lane, kind, class, priority, created_at, ids)
  local queue, score, at = keys.queue(lane, kind, class), index.score(priority, created_at), text(created_at)
  call('ZADD', keys.index('all_executions'), scored(at, ids))
  if namespace ~= 'default' then
    call('ZADD', keys.tenant(namespace), scored(at, ids))
  end
  call('ZADD', keys.waiting(lane, class), scored(text(score), ids))
  call('ZADD', queue, scored(text(score), ids))
  grew(queue, lane, kind, class, #ids, score)
end

--- Removes executions of one kind and class from the queues.
local function unwait_all(lane, kind, class, ids)
  local queue, waiting = keys.queue(lane, kind, class), here.memory.waiting
  call('ZREM', keys.waiting(lane, class), unpack(ids))
  call('ZREM', queue, unpack(ids))
  waiting[queue] = waiting[queue] and math.max(0, waiting[queue] - #ids)
end

--- Moves waiting executions of one kind, class and key to a worker that holds them now. Times are text.
function index.hold_all(lane, kind, class, key, instance, acquired_at, expires_at, ids)
  if key then
    turns.take_all(lane, kind, class, key, ids)
  else
    unwait_all(lane, kind, class, ids)
  end
  call('ZADD', keys.lane(lane, 'active'), scored(acquired_at, ids))
  call('SADD', keys.worker_leases(instance), unpack(ids))
  call('ZADD', keys.index('lease_expiry'), scored(expires_at, ids))
  hint.due('lease_expiry', tonumber(expires_at))
end

--- Moves executions that one worker held to the finished ones. `at` is text.
function index.finish_all(lane, instance, at, ids)
  call('ZREM', keys.lane(lane, 'active'), unpack(ids))
  call('SREM', keys.worker_leases(instance), unpack(ids))
  call('ZREM', keys.index('lease_expiry'), unpack(ids))
  call('ZADD', keys.lane(lane, 'terminal'), scored(at, ids))
end

--- Keeps finished executions, each until its own time. `kept` holds times and ids in turn, `first` is the earliest time.
function index.keep_all(kept, first)
  call('ZADD', keys.index('retention'), unpack(kept))
  hint.due('retention', first)
end

--- Removes the timeout of an attempt.
function index.untime_attempt(id)
  remove(keys.index('attempt_timeout'), id)
end

--- Sets the deadline of an execution, if it has one.
function index.bound(deadline_at, id)
  if deadline_at then
    add_due('execution_deadline', deadline_at, id)
  end
end

function index.unbound(deadline_at, id)
  if deadline_at then
    remove(keys.index('execution_deadline'), id)
  end
end

--- Adds a suspended execution, with its timeout if it has one.
function index.suspend(lane, suspended_at, timeout_at, id)
  add(keys.lane(lane, 'suspended'), suspended_at, id)
  if timeout_at then
    add_due('suspension_timeout', timeout_at, id)
  end
end

function index.unsuspend(lane, timeout_at, id)
  remove(keys.lane(lane, 'suspended'), id)
  if timeout_at then
    index.untime(id)
  end
end

--- Removes the timeout of a suspension.
function index.untime(id)
  remove(keys.index('suspension_timeout'), id)
end

--- Sets when a pending waitpoint expires.
function index.pend(expires_at, waitpoint_id)
  add_due('pending_waitpoint_expiry', expires_at, waitpoint_id)
end

function index.unpend(waitpoint_id)
  remove(keys.index('pending_waitpoint_expiry'), waitpoint_id)
end

--- Adds an execution that upstreams or admission block since a time, and until another if that is known. `place` is the name of the lane's
--- index.
function index.keep_back(lane, place, since, until_ms, id)
  add(keys.lane(lane, place), since, id)
  if until_ms then
    add_due('delayed', until_ms, id)
  end
end

function index.admit(lane, place, until_ms, id)
  remove(keys.lane(lane, place), id)
  if until_ms then
    remove(keys.index('delayed'), id)
  end
end

--- Adds a finished execution to its lane.
function index.finish(lane, at, id)
  add(keys.lane(lane, 'terminal'), at, id)
end

function index.unfinish(lane, id)
  remove(keys.lane(lane, 'terminal'), id)
end

local CHUNK = 1000

local function write_collected()
  for nth = 1, #order do
    local members = order[nth]
    for first = 1, #members, CHUNK do
      call(members.command, members.key, unpack(members, first, math.min(first + CHUNK - 1, #members)))
    end
  end
end

--- Writes the collected changes.
function index.flush()
  if order then
    write_collected()
    for queue, growth in pairs(grown) do
      grew(queue, growth.lane, growth.kind, growth.class, growth.by, growth.best)
    end
    index.begin()
  end
end

return index
