--- Reads a list of triples from the arguments: their number, then the items of all of them in one list. Also returns the position after it.
--- A missing list is empty. Returns nil if it is malformed.

return function(arguments, at)
  local last = #arguments
  local count = at > last and 0 or whole(arguments[at])
  if not count or at + 3 * count > math.max(at, last) then
    return nil
  end
  local items = {}
  for nth = 1, 3 * count do
    items[nth] = arguments[at + nth]
  end
  return items, at + 3 * count + 1
end
