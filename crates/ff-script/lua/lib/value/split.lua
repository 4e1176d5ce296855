--- Returns the parts of a text between blanks; none without a text.

return function(line)
  local list = {}
  for part in (line or ''):gmatch('%S+') do
    list[#list + 1] = part
  end
  return list
end
