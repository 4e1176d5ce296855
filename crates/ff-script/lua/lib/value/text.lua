--- Returns a whole number as text, with all its digits.

return function(number)
  return string.format('%.0f', number)
end
