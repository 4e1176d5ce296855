--- Returns the refusal of an invalid policy. The fields and their bounds are the ones in ff-core.

local function within(low, high)
  return function(value)
    return type(value) == 'number' and value % 1 == 0 and value >= low and value <= high
  end
end

--- Accepts null, or a number within bounds.
local function maybe_within(low, high)
  local is = within(low, high)
  return function(value)
    return value == cjson.null or is(value)
  end
end

local function is_flag(value)
  return type(value) == 'boolean'
end

local function is_multiplier(value)
  return type(value) == 'number' and value >= 1 and value <= limits.backoff_multiplier_max
end

local function are_categories(list)
  if type(list) ~= 'table' or #list > limits.retryable_categories then
    return false
  end
  for nth, category in pairs(list) do
    local is_name = type(category) == 'string' and category:find('^[%w._-]+$') and #category <= limits.name_bytes
    if type(nth) ~= 'number' or not is_name then
      return false
    end
  end
  return true
end

local function are_capabilities(list)
  if type(list) ~= 'table' or #list > limits.requirements then
    return false
  end
  local bytes = 0
  for nth, word in pairs(list) do
    if type(nth) ~= 'number' or type(word) ~= 'string' or word:find('[%s%c,]') or word == '' or #word > limits.text_bytes then
      return false
    end
    bytes = bytes + #word
  end
  return bytes <= limits.capability_bytes
end

local RETRIES, DELAY = within(0, limits.max_retries_max), within(0, limits.backoff_ceiling_ms)
local SPAN = maybe_within(1, limits.span_max_ms)

local BACKOFFS = {
  exponential = { initial_delay_ms = DELAY, max_delay_ms = DELAY, multiplier = is_multiplier, jitter = is_flag },
  fixed = { delay_ms = DELAY, jitter = is_flag },
}

local FIELDS = {
  retry_policy = { max_retries = RETRIES, backoff = BACKOFFS, retryable_categories = are_categories },
  timeout_policy = { attempt_timeout_ms = SPAN, execution_deadline_ms = SPAN },
  max_reclaim_count = RETRIES,
  max_replay_count = RETRIES,
  dedup_window_ms = within(0, limits.span_max_ms),
  retention_ms = maybe_within(0, limits.span_max_ms),
  max_steps = maybe_within(1, limits.steps_max),
  routing_requirements = { required_capabilities = are_capabilities },
}

--- Returns a field that is wrong, or nil.
local function wrong(value, is, field)
  if type(is) == 'function' then
    return not is(value) and field or nil
  elseif type(value) ~= 'table' then
    return field
  end
  local fields = is
  if is == BACKOFFS then
    fields = BACKOFFS[value.type]
    if not fields or value.type == 'fixed' and not value.delay_ms then
      return field
    end
  end
  for name, part in pairs(value) do
    local path = (field and field .. '.' or '') .. tostring(name)
    if not (is == BACKOFFS and name == 'type') then
      local bad = not fields[name] and path or wrong(part, fields[name], path)
      if bad then
        return bad
      end
    end
  end
end

--- Returns false for two forms that the decoder lets pass: numbers that no other reader of JSON accepts, and a list of words written as an
--- object.
local function is_strict(json)
  local rest = json:gsub('\\.', ''):gsub('"[^"]*"', ''):gsub('true', ''):gsub('false', ''):gsub('null', '')
  return not rest:find('[^%s%deE%.%+%-%[%]{},:]')
    and not json:find('"retryable_categories"%s*:%s*{')
    and not json:find('"required_capabilities"%s*:%s*{')
end

return function(json)
  if policy.is_known(json) then
    return nil
  end
  local read, sent = pcall(cjson.decode, json)
  if not read or type(sent) ~= 'table' or not is_strict(json) then
    return no.invalid_policy_json('field', 'policy')
  end
  local field = wrong(sent, FIELDS)
  if field then
    return no.invalid_policy_json('field', field)
  end
  policy.read(json)
end
