--- Configures a lane, at its home. Settings that are not named stay; the same again changes nothing.
---
--- With another limit, the counts of partitions are unknown until every partition was counted.
---
--- key  config         hash
--- arg  lane           text    as indexes name it
--- arg  state          text?
--- arg  concurrency    text?   a number, or `default`; as it was when absent
--- arg  ageing_ms      text?   likewise
--- arg  retention_ms   text?   likewise
---
--- ok   state
--- ok   concurrency    empty when there is no limit
--- ok   ageing_ms      empty when age does not count
--- ok   retention_ms   empty when the lane does not say
--- ok   revision
--- ok   changed_at     ms
--- ok   classes        its requirement classes
--- no   invalid_args

local moment = now()
local known = settings.of(lane)
local before = known or { state = 'active', revision = 0, changed_at = moment, grants = 0 }
local after = { grants = before.grants, state = state or before.state }
local asked = { concurrency = concurrency or '', ageing_ms = ageing_ms or '', retention_ms = retention_ms or '' }
for name, said in pairs(asked) do
  if said == '' then
    after[name] = before[name]
  elseif said ~= 'default' then
    after[name] = whole(said)
    if not after[name] then
      return no.invalid_args('field', name)
    end
  end
end
local same = after.state == before.state
for _, name in ipairs({ 'concurrency', 'ageing_ms', 'retention_ms' }) do
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
