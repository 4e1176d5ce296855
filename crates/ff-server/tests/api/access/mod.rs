//! Who may call what: roles, tenants, sessions and pages of other origins, and callers that send too much.

mod abuse;
mod cors;
mod limits_at_once;
mod roles;
mod sessions;
mod tenants;
