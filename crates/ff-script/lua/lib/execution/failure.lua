--- Returns a failure as fields of a record.

return function(category, message, permanent)
  return {
    failure_category = category,
    failure_message = message,
    failure_permanent = permanent and '1' or false,
  }
end
