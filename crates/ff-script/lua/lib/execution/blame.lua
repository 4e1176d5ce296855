--- Records a failure, if there is one: on the attempt it ended, and on the execution as its last failure.

return function(e, failure)
  for name, value in pairs(failure or {}) do
    append(e.attempt, name, value)
    record.drop(e, name)
    record.put_if_given(e, name, value)
  end
end
