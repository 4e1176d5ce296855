--- Refusals, by code: `no.stale_lease()`. What more there is to say follows in pairs of name and value, as in
--- `no.execution_not_active('state', 'completed')`. There is one for every code that some header names.

local no = {}

for nth = 1, #codes do
  local code = codes[nth]
  no[code] = function(...)
    return { 0, code, ... }
  end
end

return no
