--- A list of threes among the arguments, which are how many there are and then the items of each, all in one list; and the
--- position after it. Where nothing is sent there are none.

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
