--- Reads a list from the arguments: its length, then its items. Also returns the position after it. Returns nil if it is malformed.

return function(arguments, at)
  local count = whole(arguments[at])
  if not count or at + count > #arguments then
    return nil
  end
  local items = {}
  for nth = 1, count do
    items[nth] = arguments[at + nth]
  end
  return items, at + count + 1
end
