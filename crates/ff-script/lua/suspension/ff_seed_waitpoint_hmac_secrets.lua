--- Stores secrets for a partition that has none, and returns the stored secrets.
---
--- key  waitpoint_hmac_secrets  hash
--- arg  fields                  list   names and values
---
--- ok   secrets                 names and values
--- no   invalid_args

if #fields % 2 == 1 then
  return no.invalid_args('field', 'fields')
end
if fields[1] and call('EXISTS', waitpoint_hmac_secrets) == 0 then
  call('HSET', waitpoint_hmac_secrets, unpack(fields))
end
return ok(call('HGETALL', waitpoint_hmac_secrets))
