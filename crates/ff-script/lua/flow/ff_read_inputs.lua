--- Reads named inputs that were passed on to an execution, in the order of their names, a page at a time. A caller uses it for the inputs
--- that did not fit into a claim.
---
--- key  core     hash
--- arg  after    text?   position of the last input that was read
--- arg  left     int     number of bytes that may come with them
---
--- ok   inputs   name, upstream, type (empty: JSON) and bytes of each
--- ok   last     position of the last input when there may be more, otherwise empty
--- ok   left     number of bytes that may still come
--- no   invalid_args
--- flag no-writes

return ok(meta.inputs(keys.id(core), after, left))
