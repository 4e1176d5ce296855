//! The access that routes require on a server with API keys.

use ff_api::access::Access;
use serde_json::{Value, json};

use crate::routing::route_table;

/// Names of the security schemes: an API key, and the token of a stream.
const KEY: &str = "api_key";
const STREAM_TOKEN: &str = "stream_token";

/// Returns the security schemes.
pub(super) fn schemes() -> Value {
    let says = "An API key. Not required if the store has no keys.";
    let reads = "A token for the stream of one execution.";
    json!({
        KEY: { "type": "http", "scheme": "bearer", "description": says },
        STREAM_TOKEN: { "type": "apiKey", "in": "query", "name": route_table::STREAM_TOKEN_PARAMETER, "description": reads },
    })
}

/// Returns the security requirements of a route.
pub(super) fn requirements(access: Access) -> Value {
    match access {
        Access::Open => json!([]),
        Access::Token => json!([{}, { KEY: [] }]),
        Access::RolesOrStreamToken(_) => json!([{ KEY: [] }, { STREAM_TOKEN: [] }]),
        Access::AnyKey | Access::Roles(_) | Access::Deployment(_) => json!([{ KEY: [] }]),
    }
}

/// Returns a sentence with the roles that a key needs, if any.
pub(super) fn roles(access: Access) -> Option<String> {
    let (roles, scope) = match access {
        Access::Roles(roles) | Access::RolesOrStreamToken(roles) => (roles, "the namespace"),
        Access::Deployment(roles) => (roles, "all namespaces"),
        Access::Open | Access::Token | Access::AnyKey => return None,
    };
    let roles: Vec<_> = roles.iter().map(|role| format!("`{role}`")).collect();
    Some(format!("Requires the role {}, for {scope}.", roles.join(" or ")))
}
