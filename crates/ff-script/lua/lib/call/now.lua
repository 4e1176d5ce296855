--- Returns the time of a call: the clock, but never earlier than a time its partition has seen.
---
--- The latest time is noted in the partition's clock key once a second, with the name of this server, so that time goes on from there after
--- a restart or on another server.

local NOTED_EVERY_MS = 1000

local name

--- Notes a time, and returns the one noted before. If another server noted that one, drops the cache of the partition, which may be stale.
local function note(moment)
  name = name or table.concat(call('TIME'), '.') .. tostring({}):match('0x.*')
  local before = call('SET', keys.clock(), text(moment) .. ' ' .. name, 'GET')
  local latest, by = (before or ''):match('^(%d+) (.*)$')
  if by ~= name then
    here.forget()
  end
  return tonumber(latest) or 0
end

return function()
  local time = clock()
  local moment = math.max(time, here.memory.moment)
  local noted_at = here.memory.noted_at
  if not noted_at or time < noted_at or time - noted_at >= NOTED_EVERY_MS then
    local latest = note(moment)
    if latest > moment then
      moment = latest
      note(moment)
    end
    here.memory.noted_at = time
  end
  here.memory.moment = moment
  return moment
end
