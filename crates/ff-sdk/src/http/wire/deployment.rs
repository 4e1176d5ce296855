//! What a client has to know of a server before anything else.

use ff_core::partition::PartitionConfig;
use serde::{Deserialize, Serialize};

/// How many partitions the store was made with, by which a client places what it submits, and where links lead.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deployment {
    #[serde(flatten)]
    pub partitions: PartitionConfig,
    /// The address outsiders reach the server by; absent where it was told none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
}
