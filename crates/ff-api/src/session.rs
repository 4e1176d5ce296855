//! Browser sessions on the wire.

use crate::object::answers;
use ff_core::api_key::KeyInfo;
use serde::{Deserialize, Serialize};

answers! {
    /// The caller's key and the server's version.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Session {
        /// Version of the server.
        pub version: String,
        /// Whether every request needs a key.
        pub keys: bool,
        /// The caller's key.
        pub key: Option<KeyInfo>,
    }
}

/// Starts a browser session with the key of this request.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginSession {}

/// Ends the browser session.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSession {}
