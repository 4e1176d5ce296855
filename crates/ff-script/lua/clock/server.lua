--- The server's clock, in milliseconds.

return function()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
