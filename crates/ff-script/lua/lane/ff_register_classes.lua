--- Adds requirement classes to a lane at its home partition. Existing classes stay.
---
--- key  config         hash
--- arg  lane           text    name used in indexes
--- arg  classes        list
---
--- ok   state
--- ok   concurrency    empty when there is no limit
--- ok   ageing_ms      empty when age does not count
--- ok   retention_ms   empty when the lane sets none
--- ok   revision
--- ok   changed_at     ms
--- ok   known          its requirement classes
--- ok   fair_by        the kind of key by which work is queued, empty when there is none
--- ok   weights        weight and key, one pair per line
--- ok   has_keys       1 when work was ever queued by a key
--- no   limit_exceeded
--- no   invalid_args

local moment = now()
local known = settings.of(lane)
local before = known or { state = 'active', revision = 0, changed_at = moment, grants = 0, classes = {}, has_class = {} }
local count = #before.classes
for _, class in ipairs(classes) do
  count = count + (before.has_class[class] and 0 or 1)
end
if count > limits.lane_classes then
  local most = text(limits.lane_classes)
  local detail = 'the lane ' .. lane:match('[^/]*$') .. ' has executions with ' .. most
    .. ' different sets of requirements, and takes no others; use fewer, or another lane'
  return no.limit_exceeded(
    'field', 'policy.routing_requirements.required_capabilities', 'limit', most, 'sent', text(count), 'detail', detail
  )
end
if not known and classes[1] then
  settings.write(lane, before)
end
if classes[1] then
  settings.add_classes(lane, classes)
end
return settings.answer(settings.of(lane) or before)
