--- Takes an execution back from its holder, if the lease has run out.
---
--- key  core          hash
---
--- ok   public_state  after the word not_yet_due when it is not
--- no   execution_not_found
--- no   invalid_args
--- flag allow-oom             a full server must still be able to fire what is due

return due.fire_one(core, due.LEASE, now())
