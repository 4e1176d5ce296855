--- A list among the arguments, which are its length and then its items; and the position after it.

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
