--- Lane settings, as known here. Hardly any lane is configured. That is cached as well, so that plain work pays nothing for it.

local settings = {}

--- The settings that are not in `TEXTS`. Requirement classes are a separate field: settings are overwritten, and classes only added.
local NAMES = { 'state', 'concurrency', 'ageing_ms', 'retention_ms', 'revision', 'changed_at', 'grants' }

--- Text settings: by which key work is queued, the weights of keys, and whether any work was ever queued by key.
local TEXTS = { 'fair_by', 'weights', 'keyed' }

--- Parses weights by key: one weight and its key to a line.
local function weights_of(lines)
  local weight_of = {}
  for weight, key in lines:gmatch('(%d+) ([^\n]+)') do
    weight_of[key] = tonumber(weight)
  end
  return weight_of
end

--- Returns weights as such a text, in the order of the keys.
function settings.weights_text(weight_of)
  local lines = {}
  for key, weight in pairs(weight_of) do
    lines[#lines + 1] = { key, text(weight) .. ' ' .. key }
  end
  table.sort(lines, function(a, b)
    return a[1] < b[1]
  end)
  for nth, line in ipairs(lines) do
    lines[nth] = line[2]
  end
  return lines[1] and table.concat(lines, '\n')
end

local function read(lane)
  local fields, known = call('HMGET', keys.lane(lane, 'config'), 'classes', 'fair_by', 'weights', 'keyed', unpack(NAMES)), {}
  local classes = table.remove(fields, 1)
  for _, name in ipairs(TEXTS) do
    known[name] = table.remove(fields, 1) or nil
  end
  known.weight_of = weights_of(known.weights or '')
  if not fields[5] then
    return false
  end
  for nth, name in ipairs(NAMES) do
    known[name] = nth > 1 and tonumber(fields[nth] or nil) or fields[nth] or nil
  end
  known.state, known.grants = known.state or 'active', known.grants or 0
  known.classes, known.has_class = {}, {}
  for class in (classes or ''):gmatch('[^\n]+') do
    known.classes[#known.classes + 1], known.has_class[class] = class, true
  end
  return known
end

--- Returns the settings of a lane, or nil if it was never configured.
function settings.of(lane)
  local memory = here.memory
  local known = memory.settings[lane]
  if known == nil then
    if memory.configured >= limits.queues_remembered then
      memory.settings, memory.configured = {}, 0
    end
    known = read(lane)
    memory.settings[lane], memory.configured = known, memory.configured + 1
  end
  return known or nil
end

--- Overwrites the settings of a lane, and leaves its other fields alone.
function settings.write(lane, after)
  local set, gone = {}, {}
  for _, name in ipairs(NAMES) do
    append(set, name, after[name])
    gone[#gone + 1] = after[name] == nil and name or nil
  end
  for _, name in ipairs(TEXTS) do
    append(set, name, after[name])
    gone[#gone + 1] = after[name] == nil and name or nil
  end
  change_hash(keys.lane(lane, 'config'), set, gone)
  here.memory.settings[lane] = nil
end

--- Adds requirement classes to a configured lane.
function settings.add_classes(lane, classes)
  local known = settings.of(lane)
  local all, count = { unpack(known.classes) }, #known.classes
  for _, class in ipairs(classes) do
    all[#all + 1] = not known.has_class[class] and class or nil
  end
  if #all > count then
    call('HSET', keys.lane(lane, 'config'), 'classes', table.concat(all, '\n'))
    here.memory.settings[lane] = nil
  end
end

--- Returns the refusal of new work of a class that is not known for its lane here. The caller then registers the class and submits once
--- more.
function settings.class_refusal(lane, lane_id, class)
  local known = settings.of(lane)
  if not known or not known.has_class[class] then
    local detail = lane_id .. ' does not know the requirements ' .. class .. ' here yet'
    return no.not_runnable('field', 'requirement_class', 'detail', detail)
  end
end

--- Returns the answer of a lane's home to a new configuration.
function settings.answer(known)
  local function optional(number)
    return number and text(number) or ''
  end
  return ok(
    known.state, optional(known.concurrency), optional(known.ageing_ms), optional(known.retention_ms),
    text(known.revision), text(known.changed_at), known.classes or {}, known.fair_by or '', known.weights or '', known.keyed or ''
  )
end

--- Marks a grant as used, or as one that will not be used.
function settings.note_grant(lane, seq)
  call('HSET', keys.lane(lane, 'config'), 'grants', seq)
  here.memory.settings[lane] = nil
end

--- Returns the refusal of new work for a lane that is draining. `field` is the caller's name for the lane.
function settings.refusal(lane, lane_id, field)
  local known = settings.of(lane)
  if known and known.state == 'draining' then
    return no.not_runnable('field', field, 'detail', lane_id .. ' is draining and takes no new work')
  end
end

--- Returns the retention of a lane, if it has one.
function settings.retention_ms(lane)
  local known = settings.of(lane)
  return known and known.retention_ms
end

--- Announces the waiting work of a lane that hands out again, or whose limit changed.
function settings.announce(lane, before, after)
  local paused, limit = before and before.state == 'paused', before and before.concurrency
  if after.state == 'paused' or not paused and limit == after.concurrency then
    return
  end
  for _, queue in ipairs(call('SMEMBERS', keys.index('lanes'))) do
    local of, kind, class = keys.queue_parts(queue)
    local head = of == lane and not (class or ''):find('^,') and call('ZRANGE', keys.queue(lane, kind, class), 0, 0, 'WITHSCORES') or {}
    if head[1] then
      hint.ready(lane, kind, class, index.head(tonumber(head[2]), here.memory.moment))
    end
    if of == lane and after.keyed and call('EXISTS', keys.turns(lane, kind, class)) == 1 then
      hint.ready(lane, kind, class, limits.fair_behind, 0)
    end
  end
end

return settings
