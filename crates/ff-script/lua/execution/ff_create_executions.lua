--- Creates several executions of one lane and kind that start at once and have nothing particular about them, each as
--- `ff_create_execution` would.
---
--- key  core                  hash
--- arg  namespace             text
--- arg  lane_id               text
--- arg  kind                  text
--- arg  works                 list    execution id, payload, digest, and so on
---
--- ok   answers               what `ff_create_execution` would answer to each
--- no   idempotency_conflict
--- no   not_runnable
--- no   invalid_args

local FIELDS = 3

if #works % FIELDS ~= 0 then
  return no.invalid_args('field', 'works')
end
local moment, lane = now(), record.lane(namespace, lane_id)
local elsewhere = {} -- what is said of the lane when it is not the default one
append(elsewhere, 'namespace', namespace ~= 'default' and namespace)
append(elsewhere, 'lane_id', lane_id ~= 'default' and lane_id)
local kept_ms, refusal = settings.kept_ms(lane), settings.refusal(lane, lane_id, 'lane')
if kept_ms then
  append(elsewhere, 'rare', '1')
  append(elsewhere, 'lane_retention_ms', kept_ms)
end
local created, answers = {}, {}
for nth = 1, #works, FIELDS do
  local id, digest = works[nth], works[nth + 2]
  local answer
  if refusal and call('EXISTS', keys.of(id, 'payload')) == 0 then
    answer = refusal
  elseif call('SET', keys.of(id, 'payload'), works[nth + 1], 'NX') then
    call(
      'HSET', keys.of(id, 'core'), 'public_state', 'waiting', 'kind', kind, 'created_at', moment, 'digest', digest,
      unpack(elsewhere)
    )
    created[#created + 1] = id
    event_feed.plainly(id, lane, kind, 'event', 'submitted')
    answer = ok(id, 'waiting')
  else
    answer = submission.again(record.find(id), namespace, kind, digest, nil)
  end
  answers[#answers + 1] = answer
end
if created[1] then
  index.create_all(namespace, lane, kind, moment, created)
end
return ok(answers)
