--- Sets and deletes fields of a hash. `set` holds names and values in turn, `gone` names; either may be empty.

local CHUNK = 1000

return function(key, set, gone)
  for first = 1, #set, CHUNK do
    call('HSET', key, unpack(set, first, math.min(first + CHUNK - 1, #set)))
  end
  if gone[1] then
    call('HDEL', key, unpack(gone))
  end
end
