//! What a client has to know of a server before anything else.

use ff_core::partition::PartitionConfig;
use ff_core::types::Namespace;
use serde::{Deserialize, Serialize};

/// How many partitions the store was made with, by which a client places what it submits, where links lead, and whose work the
/// caller's key is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deployment {
    #[serde(flatten)]
    pub partitions: PartitionConfig,
    /// The address outsiders reach the server by; absent where it was told none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The one namespace the caller's key is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}
