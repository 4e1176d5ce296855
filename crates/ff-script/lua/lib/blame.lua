--- Writes a failure down, if there is one: with the try it ended, and as what went wrong last with the execution.

return function(e, failure)
  for name, value in pairs(failure or {}) do
    append(e.attempt, name, value)
    record.drop(e, name)
    record.put_if_said(e, name, value)
  end
end
