//! What routes ask of who asks them, where a server asks for keys.

use ff_api::access::Access;
use serde_json::{Value, json};

/// What the way to show a key is called.
const KEY: &str = "api_key";

/// How a key is shown.
pub(super) fn schemes() -> Value {
    let says = "An API key. A server whose store has none asks for none.";
    json!({ KEY: { "type": "http", "scheme": "bearer", "description": says } })
}

/// Whether a route asks for a key.
pub(super) fn requirements(access: Access) -> Value {
    match access {
        Access::Open => json!([]),
        Access::Token => json!([{}, { KEY: [] }]),
        Access::AnyKey | Access::Roles(_) | Access::Deployment(_) => json!([{ KEY: [] }]),
    }
}

/// What a key must be for.
pub(super) fn roles(access: Access) -> Option<String> {
    let (roles, whose) = match access {
        Access::Roles(roles) => (roles, "its own namespace"),
        Access::Deployment(roles) => (roles, "every namespace"),
        Access::Open | Access::Token | Access::AnyKey => return None,
    };
    let roles: Vec<_> = roles.iter().map(|role| format!("`{role}`")).collect();
    Some(format!("For keys with the role {}, of {whose}.", roles.join(" or ")))
}
