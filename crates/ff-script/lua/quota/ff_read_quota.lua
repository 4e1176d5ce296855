--- Reads the usage of a quota policy, a page at a time: either the numbers of each key, or the slots of executions.
---
--- key  definition  hash
--- arg  slots       flag   reads slots
--- arg  cursor      text?  where to continue
--- arg  count       int    approximate page size
---
--- ok   after       cursor of the next page, empty at the end
--- ok   found       key and its numbers; or key, execution id, epoch and time of a slot; repeated
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
