--- Lists the kids of the secrets of a partition: the one that signs, and those that still verify, with the times they end.
---
--- key  waitpoint_hmac_secrets  hash
---
--- ok   current_kid             empty when there is none
--- ok   n                       number of kids that only verify, then kid and end time of each
--- no   invalid_args
--- flag no-writes

local moment, kids = math.max(here.memory.moment, clock()), {}
local kept = record.hash(waitpoint_hmac_secrets) or {}
for name, at in pairs(kept) do
  local kid = name:match('^expires_at:(.*)$')
  if kid and moment < tonumber(at) then
    kids[#kids + 1] = kid
  end
end
table.sort(kids)
local listed = {}
for nth, kid in ipairs(kids) do
  listed[2 * nth - 1], listed[2 * nth] = kid, kept['expires_at:' .. kid]
end
return ok(kept.current_kid or '', text(#kids), unpack(listed))
