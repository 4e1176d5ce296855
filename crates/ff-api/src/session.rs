//! Sessions of browsers, as they travel.

use ff_core::api_key::KeyInfo;
use serde::{Deserialize, Serialize};

/// Who asks, and whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// The server's own.
    pub version: String,
    /// Whether every request needs a key.
    pub keys: bool,
    /// The key that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyInfo>,
}

/// A browser is to show the key of this request from now on.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BeginSession {}

/// A browser is to show no key any more.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EndSession {}
