--- Adds labels to a flow, also after it has ended. A label with the same key is replaced.
---
--- key  core   hash
--- arg  tags   list   key, value, key, value
---
--- ok   all    keys and values
--- no   flow_not_found
--- no   limit_exceeded
--- no   invalid_args

if #tags % 2 == 1 then
  return no.invalid_args('field', 'tags')
end
now()
local id = keys.flow_id(core)
local flow, refusal = flow_record.found(id)
if not flow then
  return refusal
end
local key, names, count = keys.flow(id, 'tags'), {}, 0
local kept = call('HGETALL', key)
for _, list in ipairs({ kept, tags }) do
  for nth = 1, #list, 2 do
    count = count + (names[list[nth]] and 0 or 1)
    names[list[nth]] = true
  end
end
if count > limits.tags then
  return no.limit_exceeded('field', 'tags', 'limit', text(limits.tags), 'sent', text(count))
end
if tags[1] then
  call('HSET', key, unpack(tags))
end
return ok(call('HGETALL', key))
