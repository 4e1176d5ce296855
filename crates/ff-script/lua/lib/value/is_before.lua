--- Returns true if a text comes before another, byte by byte. The server's own comparison depends on its locale.

return function(a, b)
  for nth = 1, math.min(#a, #b) do
    local left, right = a:byte(nth), b:byte(nth)
    if left ~= right then
      return left < right
    end
  end
  return #a < #b
end
