--- What is used of a budget, and what some executions have drawn.
---
--- key  definition  hash
--- arg  cursor      text?  where to go on
--- arg  count       int    about how many executions, none for the sums alone
---
--- ok   after       where to go on, empty at the end
--- ok   sums        names and values
--- ok   found       execution and what it has drawn, and again
--- no   invalid_args
--- flag no-writes

local sums = call('HGETALL', definition .. ':usage')
if count == 0 then
  return ok('', sums, {})
end
local answer = call('HSCAN', definition .. ':executions', cursor or '0', 'COUNT', count)
return ok(answer[1] == '0' and '' or answer[1], sums, answer[2])
