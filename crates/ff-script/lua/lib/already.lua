--- The answer of a call that found done what it was asked.

return function(...)
  return { 1, 'ALREADY_SATISFIED', ... }
end
