#!lua name=flowfabric_bench
-- The three smallest functions that could be called a durable queue.

local function create(keys, args)
  redis.call('HSET', keys[1], 'id', args[1], 'kind', args[2], 'lane', args[3], 'state', 'waiting', 'priority', '0',
    'created', args[4], 'attempt', '0', 'payload', args[5])
  redis.call('ZADD', keys[2], args[4], args[1])
  return 1
end

local function claim(keys, args)
  local first = redis.call('ZPOPMIN', keys[1])
  if #first == 0 then return false end
  redis.call('HSET', args[1] .. first[1], 'state', 'active', 'lease', args[2])
  redis.call('ZADD', keys[2], args[2], first[1])
  return first[1]
end

local function complete(keys, args)
  redis.call('HSET', keys[1], 'state', 'completed')
  redis.call('ZREM', keys[2], args[1])
  redis.call('ZADD', keys[3], args[2], args[1])
  return 1
end

redis.register_function('ff_bench_create', create)
redis.register_function('ff_bench_claim', claim)
redis.register_function('ff_bench_complete', complete)
