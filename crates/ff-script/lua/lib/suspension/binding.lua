--- The waitpoints of a new suspension: new waitpoints, most with a token from the caller, and pending waitpoints created earlier.

local binding = {}

--- Returns all bindings, in the order the holder named them.
function binding.all(waitpoint_id, waitpoint_key, waitpoint_token, is_pending, further)
  local all = { { id = waitpoint_id, key = waitpoint_key, token = waitpoint_token, pending = is_pending } }
  for nth = 1, #further, 3 do
    local id, key, token = unpack(further, nth, nth + 2)
    all[#all + 1] = { id = id, key = key, token = token, pending = token == '' }
  end
  return all
end

--- Returns the refusal for invalid bindings, whatever the execution.
function binding.refusal(all)
  local known = {}
  for nth, one in ipairs(all) do
    if not printable(one.key) then
      return no.invalid_waitpoint_key('field', 'waitpoints[' .. nth - 1 .. '].key')
    elseif #one.id ~= 36 or known[one.key] or not one.pending and known[one.id] or nth > limits.waitpoints then
      return no.additional_waitpoint_binding_malformed('field', 'waitpoints[' .. nth - 1 .. ']')
    end
    known[one.key], known[one.id] = true, true
  end
end

--- Returns the refusal if a suspension cannot wait on this pending waitpoint. Otherwise sets its token.
local function not_pending(e, one, field, moment)
  local waitpoint = waitpoint_record.read(e.id, one.id)
  if not waitpoint then
    return no.waitpoint_not_found('field', field .. '.id')
  end
  local state = waitpoint_record.state(e, waitpoint, moment)
  if state == 'expired' then
    return no.pending_waitpoint_expired('field', field .. '.id')
  elseif state ~= 'pending' then
    return no.waitpoint_not_pending('field', field .. '.id')
  elseif waitpoint.key ~= one.key then
    local detail = 'is not the key this waitpoint was made with'
    return no.invalid_waitpoint_key('field', field .. '.key', 'detail', detail)
  end
  one.token = waitpoint.kid .. ':' .. waitpoint.mac
end

--- Returns the refusal if this new waitpoint cannot be created. Mints a token if the caller sent none.
local function taken(e, one, field, moment, mark)
  for _, live in ipairs(pending.live(e, moment)) do
    if live.key == one.key then
      local detail = 'is the key of a waitpoint made ahead; name that one by its id'
      return no.waitpoint_already_exists('field', field .. '.key', 'detail', detail)
    end
  end
  local refusal
  if one.token then
    refusal = ring.refusal(one.token, mark)
  else
    one.token, refusal = ring.mint(e.id, one.id, one.key)
  end
  if not refusal and call('EXISTS', keys.waitpoint(one.id)) == 1 then
    return no.waitpoint_already_exists('field', field .. '.id')
  end
  return refusal
end

--- Returns the refusal if the execution cannot wait on these waitpoints. Otherwise each binding has its token. `mark` identifies the secret
--- that signs new tokens.
function binding.unusable(e, all, mark, moment)
  for nth, one in ipairs(all) do
    local field = 'waitpoints[' .. nth - 1 .. ']'
    local refusal = (one.pending and not_pending or taken)(e, one, field, moment, mark)
    if refusal then
      return refusal
    end
  end
end

--- Assigns the waitpoints to a suspension. The first one stores the idempotency key, so that the dedup key can be found.
function binding.use(e, all, suspension_id, idempotency_key, moment)
  for nth, one in ipairs(all) do
    local more = { 'suspension_id', suspension_id }
    append(more, 'suspend_key', nth == 1 and idempotency_key)
    if one.pending then
      call('HSET', keys.waitpoint(one.id), unpack(more))
    else
      waitpoint_record.create(e, one.id, one.key, one.token, more, moment)
    end
  end
end

return binding
