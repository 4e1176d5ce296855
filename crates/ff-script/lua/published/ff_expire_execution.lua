--- Ends an execution as expired, if its deadline has come.
---
--- key  core          hash
---
--- ok   public_state  follows the word not_yet_due when it is not due
--- no   execution_not_found
--- no   invalid_args
--- flag allow-oom             a full server must still be able to fire what is due

return due.fire_one(core, due.DEADLINE, now())
