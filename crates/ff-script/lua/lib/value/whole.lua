--- Returns the whole number of a text, or nil if there is none that a double holds exactly.

return function(text)
  local number = tonumber(text)
  if number and number >= 0 and number <= 9007199254740992 and number % 1 == 0 then
    return number
  end
end
