//! The keyspace: every key FlowFabric keeps in Valkey, built in one place.
//!
//! Each key is written out in full next to the name of its builder, so that a key seen in a store can be found here by a
//! search. Keys with a partition's hash tag hold records and their indexes, and change together with the other keys of
//! that tag. Keys without a hash tag are configuration and directories. A directory may name a partition without records,
//! but never omits one that has some.
//!
//! ```
//! use ff_core::keys::{ExecKeyContext, IndexKeys};
//! use ff_core::partition::{PartitionConfig, execution_partition};
//! use ff_core::types::{ExecutionId, LaneId};
//!
//! let id: ExecutionId = "{fp:7}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c".parse()?;
//! let partition = execution_partition(&id, &PartitionConfig::default());
//!
//! let core = ExecKeyContext::new(&partition, &id).core();
//! assert_eq!(core, "ff:exec:{fp:7}:{fp:7}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c:core");
//!
//! let eligible = IndexKeys::new(&partition).lane_eligible(&LaneId::parse("mail")?);
//! assert_eq!(eligible, "ff:idx:{fp:7}:lane:mail:eligible");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod directory;
mod exec;
mod flow;
mod index;
mod quota;

pub use budget::{
    BudgetKeyContext, USAGE_DEDUP_KEY_PREFIX, budget_attach_key, budget_policies_index, budget_resets_key,
    usage_dedup_key,
};
pub use directory::{
    HINTS_CHANNEL, api_key_key, api_keys_index_key, global_config_partitions, lane_config_key, lane_counts_key,
    lanes_index_key, namespace_executions_key, quota_namespaces_key, schedule_partitions_key, tag_index_key,
    worker_caps_key, worker_key, workers_capability_key, workers_index_key,
};
pub use exec::{ExecKeyContext, idempotency_key, noop_key, waitpoint_key_resolution};
pub use flow::{FlowIndexKeys, FlowKeyContext};
pub use index::IndexKeys;
pub use quota::{QuotaKeyContext, quota_attach_key, quota_policies_index};

/// Defines the owner of keys that share a hash tag, and one builder per row: its name, its arguments, and its key, which
/// is built from the arguments and the owner's own parts.
macro_rules! keys {
    ($(#[$doc:meta])* $owner:ident { $tag:ident $(, $id:ident: $id_type:ty)? } $($rows:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $owner {
            $tag: String,
            $($id: String,)?
        }

        impl $owner {
            /// Returns the builder for an owner on `partition`.
            pub fn new(partition: &crate::partition::Partition $(, $id: &$id_type)?) -> Self {
                Self { $tag: partition.hash_tag() $(, $id: $id.to_string())? }
            }

            /// Returns the hash tag that all these keys share, with its braces.
            pub fn hash_tag(&self) -> &str {
                &self.$tag
            }
        }

        keys! { of $owner { $tag $(, $id)? } $($rows)* }
    };
    (of $owner:ident $parts:tt
        $($(#[$doc:meta])* $builder:ident($($argument:ident: $type:ty),*) => $key:literal;)*
    ) => {
        impl $owner {$(
            $(#[$doc])*
            #[allow(unused_variables, reason = "a waitpoint's key, say, does not name its execution")]
            pub fn $builder(&self $(, $argument: $type)*) -> String {
                let Self $parts = self;
                format!($key)
            }
        )*}
    };
}
use keys;

/// Defines one function per row, which builds a key from its arguments alone.
macro_rules! key_functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => $key:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name($($argument: $type),*) -> String {
            format!($key)
        }
    )*};
}
use key_functions;
