--- The partition of a call, and its cache on this server between calls.
---
--- The cache saves reads and work, and is never authoritative. It is dropped when another server has written the partition, or when the
--- partition was emptied; `now` detects both.

local here = {}
local memories = {}

function here.enter(key)
  local tag = key:match('{.-}') or ''
  here.tag = tag
  here.memory = memories[tag]
  if not here.memory then
    here.forget()
  end
end

--- Drops the cache, except the latest time, because time does not run backwards, and the callers to notify.
function here.forget()
  local before = here.memory
  here.memory = {
    moment = before and before.moment or 0, -- the latest time seen
    awaited = before and before.awaited or {}, -- executions, flows and events that callers wait for
    awaiting = before and before.awaiting or 0, -- number of entries in `awaited`
    feed_read = before and before.feed_read or false, -- whether a reader waits for more of the signal feed
    events_read = before and before.events_read or false, -- whether a reader waits for more events
    followed = nil, -- until when events are recorded
    settings = {}, -- lane settings, by lane; false if never configured
    configured = 0, -- number of lanes in `settings`
    quotas = {}, -- quota policies, by namespace; false if there are none
    quoted = 0, -- number of namespaces in `quotas`
    announced = nil, -- the earliest due time that listeners know
    earliest = {}, -- a time before which nothing in an index is due, by index name
    waiting = {}, -- number of waiting executions, by queue
    known = 0, -- number of queues in `waiting`
    executions = 'ff:exec:' .. here.tag .. ':', -- prefix of the keys of executions
    attempts = 'ff:attempt:' .. here.tag .. ':', -- prefix of the keys of attempts
    names = {}, -- keys of the partition, by name
    lanes = {}, -- keys of a lane, by lane and name
    tag_prefixes = {}, -- prefixes of tag keys, by namespace
    named = 0, -- number of names in these three
  }
  memories[here.tag] = here.memory
end

return here
