--- What is used of a quota policy: under some values of its key, or the slots of some executions.
---
--- key  definition  hash
--- arg  slots       flag   which of the two
--- arg  cursor      text?  where to go on
--- arg  count       int    about how many
---
--- ok   after       where to go on, empty at the end
--- ok   found       of a key itself and its numbers; of a slot key, execution, epoch and moment; and again
--- no   invalid_args
--- flag no-writes

local found, answer = {}, nil
if slots then
  answer = call('SSCAN', definition .. ':admitted_set', cursor or '0', 'COUNT', count)
  for _, one in ipairs(answer[2]) do
    local id, key = one:match('^(%S+) (.*)$')
    local kept = call('GET', definition .. ':admitted:' .. id .. (key == '' and '' or ':' .. key)) or ''
    local epoch, at = kept:match('^held (%d+) (%d+) ')
    if epoch then
      append(found, key, id)
      append(found, epoch, at)
    end
  end
else
  answer = call('HSCAN', definition .. ':use', cursor or '0', 'COUNT', count)
  found = answer[2]
end
return ok(answer[1] == '0' and '' or answer[1], found)
