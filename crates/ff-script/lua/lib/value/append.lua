--- Appends a name and a value to a list, unless the value is nil or false.

return function(list, name, value)
  if value then
    list[#list + 1] = name
    list[#list + 1] = value
  end
end
