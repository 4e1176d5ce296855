//! Every promise, on every store, and on every store behind a server.

ff_conformance::conformance! { memory, sqlite, http_over_memory, http_over_sqlite }
