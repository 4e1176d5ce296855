--- Refusals, by code: `no.stale_lease()`. Details follow in pairs of name and value, as in `no.execution_not_active('state', 'completed')`.
--- Every code that a header names has a function.

local no = {}

for nth = 1, #codes do
  local code = codes[nth]
  no[code] = function(...)
    return { 0, code, ... }
  end
end

return no
