--- Configures a lane at its home partition. Absent settings keep their values. The same settings again change nothing.
---
--- A new limit makes the counts of partitions unknown until every partition was counted.
---
--- key  config         hash
--- arg  lane           text    name used in indexes
--- arg  state          text?
--- arg  concurrency    text?   a number, or `default`; unchanged when absent
--- arg  ageing_ms      text?   likewise
--- arg  retention_ms   text?   likewise
--- arg  fair_by        text?   the kind of key by which work is queued, or `default`; unchanged when absent
--- arg  weights        list    key and weight, repeated; an empty weight is the default
---
--- ok   state
--- ok   concurrency    empty when there is no limit
--- ok   ageing_ms      empty when age does not count
--- ok   retention_ms   empty when the lane sets none
--- ok   revision
--- ok   changed_at     ms
--- ok   classes        its requirement classes
--- ok   known_by       the kind of key by which work is queued, empty when there is none
--- ok   known_weights  weight and key, one pair per line
--- ok   has_keys       1 when work was ever queued by a key
--- no   invalid_input
--- no   limit_exceeded
--- no   invalid_args

local moment = now()
local known = settings.of(lane)
local before = known or { state = 'active', revision = 0, changed_at = moment, grants = 0 }
local after = { grants = before.grants, state = state or before.state }
local asked = { concurrency = concurrency or '', ageing_ms = ageing_ms or '', retention_ms = retention_ms or '' }
for name, setting in pairs(asked) do
  if setting == '' then
    after[name] = before[name]
  elseif setting ~= 'default' then
    after[name] = whole(setting)
    if not after[name] then
      return no.invalid_args('field', name)
    end
  end
end
after.fair_by = before.fair_by
if fair_by then
  after.fair_by = fair_by ~= 'default' and fair_by or nil
end
-- Weights of another kind of key no longer apply.
local weight_of, count = {}, 0
if after.fair_by == before.fair_by then
  for key, weight in pairs(before.weight_of or {}) do
    weight_of[key] = weight
  end
end
for nth = 1, #weights, 2 do
  local key, weight = weights[nth], weights[nth + 1]
  if weight ~= '' and not after.fair_by then
    return no.invalid_input('field', 'weights', 'detail', 'the lane has no fair_by, and so no keys that weigh anything')
  end
  weight_of[key] = weight ~= '' and tonumber(weight) or nil
end
for _ in pairs(weight_of) do
  count = count + 1
end
if count > limits.lane_weights then
  return no.limit_exceeded('field', 'weights', 'limit', text(limits.lane_weights), 'sent', text(count))
end
after.weights, after.weight_of = settings.weights_text(weight_of) or nil, weight_of
after.keyed = (before.keyed or after.fair_by) and '1' or nil
local same = after.state == before.state
for _, name in ipairs({ 'concurrency', 'ageing_ms', 'retention_ms', 'fair_by', 'weights' }) do
  same = same and after[name] == before[name]
end
after.revision = same and before.revision or before.revision + 1
after.changed_at = same and before.changed_at or moment
if not same then
  if after.concurrency ~= before.concurrency then
    share.clear(lane)
  end
  settings.write(lane, after)
  settings.announce(lane, known, after)
end
after.classes = before.classes
return settings.answer(after)
