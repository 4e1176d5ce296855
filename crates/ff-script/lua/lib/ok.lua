--- The answer of a call that did what it was asked.

return function(...)
  return { 1, 'OK', ... }
end
