--- Returns the answer for a call that was already performed.

return function(...)
  return { 1, 'ALREADY_SATISFIED', ... }
end
