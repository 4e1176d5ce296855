--- Stores or removes the definition of a quota policy at its home partition, if `revision` is newer than the stored one.
---
--- key  definition      hash
--- key  policies        set
--- arg  policy_id       uuid
--- arg  revision        int    of the namespace's policies
--- arg  name            text?  absent when the policy is gone
--- arg  rate_limit      int?
--- arg  window_ms       int?
--- arg  max_concurrent  int?
---
--- ok   known           the revision that is stored now
--- no   invalid_args

now()
local known = tonumber(call('HGET', definition, 'revision') or 0)
if known >= revision then
  return ok(text(known))
end
call('DEL', definition)
local fields = { 'revision', text(revision) }
append(fields, 'name', name)
append(fields, 'rate_limit', rate_limit and text(rate_limit))
append(fields, 'window_ms', window_ms and text(window_ms))
append(fields, 'max_concurrent', max_concurrent and text(max_concurrent))
call('HSET', definition, unpack(fields))
call(name and 'SADD' or 'SREM', policies, policy_id)
hint.quota_defined(policy_id)
return ok(text(revision))
