--- Edges: dependencies between members. The ends of an edge never change, and are stored with the flow. Its state is stored with its
--- downstream member.

local edge = {}

local GRAPH = 'graph'

--- Returns the first graph entries of a member's edges after a given edge, ordered by edge id, and the length of the prefix before that id.
--- `mark` selects leaving (`o`) or entering (`i`) edges.
local function beside(flow_id, id, mark, after, most)
  local prefix = mark .. keys.uuid(id) .. '/'
  -- In byte order, `0` follows the slash that ends an id.
  local from, to = after and '(' .. prefix .. after .. '0' or '(' .. prefix, '(' .. mark .. keys.uuid(id) .. '0'
  return call('ZRANGE', keys.flow(flow_id, GRAPH), from, to, 'BYLEX', 'LIMIT', 0, most), #prefix
end

local function sooner(a, b)
  return a.id < b.id
end

--- Merges the edges added by this step into a list of stored edges.
local function with_added(list, id, side, after, most)
  local added = step.added(id, side)
  if not added[1] then
    return list
  end
  for _, one in ipairs(added) do
    if not after or one.id > after then
      list[#list + 1] = one
    end
  end
  table.sort(list, sooner)
  for nth = #list, most + 1, -1 do
    list[nth] = nil
  end
  return list
end

--- Returns the first edges that leave a member after a given edge, ordered by id, including edges added by this step.
function edge.leaving(flow_id, id, after, most)
  local found, skip = beside(flow_id, id, 'o', after, most)
  local list = {}
  for nth, entry in ipairs(found) do
    local downstream = keys.execution(entry:sub(skip + 38))
    list[nth] = { id = entry:sub(skip + 1, skip + 36), flow_id = flow_id, upstream = id, downstream = downstream }
  end
  return with_added(list, id, 'upstream', after, most)
end

--- Returns the first edges that enter a member, in the same way.
function edge.entering(flow_id, id, after, most)
  local found, skip = beside(flow_id, id, 'i', after, most)
  local list = {}
  for nth, entry in ipairs(found) do
    local upstream = keys.execution(entry:sub(skip + 38))
    list[nth] = { id = entry:sub(skip + 1, skip + 36), flow_id = flow_id, upstream = upstream, downstream = id }
  end
  return with_added(list, id, 'downstream', after, most)
end

--- Returns an edge with its state, which is read if it is missing.
function edge.read(found)
  if found.state then
    return found
  end
  local key = keys.dep_edge(found.downstream, found.id)
  local state, round, passes, name, bytes =
    unpack(call('HMGET', key, 'state', 'round', 'passes', 'input_name', 'passed_bytes'))
  found.state, found.round, found.passes, found.input_name = state, tonumber(round or 0), passes, name
  found.passed_bytes = tonumber(bytes or nil)
  found.before = { state = found.state, round = found.round, passed_bytes = found.passed_bytes }
  return found
end

local function write_new(one, sets, graph)
  local up, down, flow_id = one.upstream, one.downstream, one.flow_id
  local more = {}
  append(more, 'passes', one.passes)
  append(more, 'input_name', one.input_name)
  call(
    'HSET', keys.flow(flow_id, 'edge:' .. one.id), 'upstream_execution_id', up, 'downstream_execution_id', down, 'kind',
    'success_only', unpack(more)
  )
  append(more, 'round', one.round > 0 and one.round)
  append(more, 'passed_bytes', one.passed_bytes)
  call('HSET', keys.dep_edge(down, one.id), 'upstream_execution_id', up, 'state', one.state, unpack(more))
  local entries = {
    keys.flow(flow_id, 'out:' .. up), keys.flow(flow_id, 'in:' .. down), keys.of(down, 'deps:all_edges'),
    one.state == 'pending' and keys.of(down, 'deps:unresolved') or nil,
  }
  for _, key in ipairs(entries) do
    local ids = sets[key] or {}
    sets[key], ids[#ids + 1] = ids, one.id
  end
  local all = graph[flow_id] or {}
  local from, to = keys.uuid(up), keys.uuid(down)
  graph[flow_id] = all
  append(all, 0, 'e' .. one.id)
  append(all, 0, 'o' .. from .. '/' .. one.id .. '/' .. to)
  append(all, 0, 'i' .. to .. '/' .. one.id .. '/' .. from)
end

local function write_known(one)
  local before = one.before
  local resettled = one.state ~= before.state
  if not resettled and one.round == before.round then
    return
  end
  local key = keys.dep_edge(one.downstream, one.id)
  if resettled then
    local command = one.state == 'pending' and 'SADD' or before.state == 'pending' and 'SREM'
    if command then
      call(command, keys.of(one.downstream, 'deps:unresolved'), one.id)
    end
  end
  local set = {}
  append(set, 'state', one.state ~= before.state and one.state)
  append(set, 'round', one.round ~= before.round and one.round)
  append(set, 'passed_bytes', one.passed_bytes ~= before.passed_bytes and one.passed_bytes)
  if set[1] then
    call('HSET', key, unpack(set))
  end
  if before.passed_bytes and not one.passed_bytes then
    call('HDEL', key, 'passed_bytes')
  end
end

--- Writes edges. New edges are also written into the graph.
function edge.write_all(edges)
  local sets, graph = {}, {}
  for _, one in pairs(edges) do
    if one.is_new then
      write_new(one, sets, graph)
    else
      write_known(one)
    end
  end
  for key, ids in pairs(sets) do
    call('SADD', key, unpack(ids))
  end
  for flow_id, entries in pairs(graph) do
    call('ZADD', keys.flow(flow_id, GRAPH), unpack(entries))
  end
end

return edge
