--- Returns the usage sums of a budget and a page of the executions that have drawn on it.
---
--- key  definition  hash
--- arg  cursor      text?  where to continue
--- arg  count       int    approximate page size, 0 for the sums alone
---
--- ok   after       cursor of the next page, empty at the end
--- ok   sums        names and values
--- ok   found       execution id and its draw, repeated
--- no   invalid_args
--- flag no-writes

local sums = call('HGETALL', definition .. ':usage')
if count == 0 then
  return ok('', sums, {})
end
local answer = call('HSCAN', definition .. ':executions', cursor or '0', 'COUNT', count)
return ok(answer[1] == '0' and '' or answer[1], sums, answer[2])
