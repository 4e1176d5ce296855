--- The partition of a call, and its cache on this server from call to call.
---
--- The memory saves reads and work, and is never the truth. It is dropped when another server has written the partition
--- meanwhile, or when the partition was emptied, which `now` finds out.

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

--- Drops what is remembered, except the latest moment, for time does not run backwards, and who waits for what.
function here.forget()
  local before = here.memory
  here.memory = {
    moment = before and before.moment or 0, -- the latest there has been
    awaited = before and before.awaited or {}, -- executions whose end somebody waits for
    awaiting = before and before.awaiting or 0, -- how many there are in `awaited`
    feed_read = before and before.feed_read or false, -- whether somebody waits for the feed of signals to grow
    events_read = before and before.events_read or false, -- whether somebody waits for more of what happens
    followed = nil, -- until when what happens is told
    settings = {}, -- how lanes are configured, by lane; false for one that nobody configured
    configured = 0, -- how many lanes `settings` has
    quotas = {}, -- quota policies, by namespace; false where there are none
    quoted = 0, -- how many namespaces `quotas` has
    announced = nil, -- the earliest moment listeners know something to be due at
    earliest = {}, -- a moment before which nothing in an index is due, by name of the index
    waiting = {}, -- how many wait, by key of lane and kind
    known = 0, -- how many lanes and kinds `waiting` has
    names = {}, -- keys of the partition, by what they are
    lanes = {}, -- keys of a lane, by lane and what they are
    label_prefixes = {}, -- what keys of labels begin with, by namespace
    named = 0, -- how many names there are in these three
  }
  memories[here.tag] = here.memory
end

return here
