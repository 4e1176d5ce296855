--- Adds an entry to a bounded stream. Time does not run backwards on a partition, except that a server that takes over after a crash may
--- be behind for a moment. The entry then follows the last one.

return function(key, moment, entry)
  local at = text(moment)
  if type(redis.pcall('XADD', key, 'MAXLEN', limits.feed, at .. '-*', unpack(entry))) == 'table' then
    local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    call('XADD', key, 'MAXLEN', limits.feed, (last and last[1]:match('^%d+') or at) .. '-*', unpack(entry))
  end
end
