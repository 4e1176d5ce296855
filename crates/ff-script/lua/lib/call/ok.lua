--- Returns the answer of a call that succeeded.

return function(...)
  return { 1, 'OK', ... }
end
