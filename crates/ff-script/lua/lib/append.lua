--- Adds a field to a list of names and values, if there is something to put in it.

return function(list, name, value)
  if value then
    list[#list + 1] = name
    list[#list + 1] = value
  end
end
