--- A clock that tests move: one key per partition.

return function()
  return tonumber(call('GET', 'ff:test:' .. here.tag .. ':now') or 0)
end
