--- The answer of a call that was performed before.

return function(...)
  return { 1, 'ALREADY_SATISFIED', ... }
end
