--- Returns the version and the clock of this library.
---
--- ok   version        major.minor
--- ok   clock          server, or test
--- flag no-writes

return ok(limits.version, limits.clock)
