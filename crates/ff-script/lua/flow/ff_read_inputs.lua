--- Named inputs that were passed on to an execution, in the order of their names, some at a time: those that did not fit
--- into a claim.
---
--- key  core     hash
--- arg  after    text?   the place the ones before ended at
--- arg  left     int     how many bytes may come with them
---
--- ok   inputs   of each its name, its upstream, its type when it is not JSON, and its bytes
--- ok   last     the place of the last one when there may be more, empty when there are none
--- ok   left     how many bytes may still come
--- no   invalid_args
--- flag no-writes

return ok(meta.inputs(keys.id(core), after, left))
