//! The store.

use std::sync::Arc;

use ff_core::backend::EngineBackend;
use ff_core::contracts::CompleteArgs;
use ff_core::dice::Dice;
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_script::execution::PlainWork;
use futures_util::future::BoxFuture;
use tokio_util::sync::DropGuard;

use crate::calls::Calls;
use crate::hints::Announcer;
use crate::lane_counter::LaneCounter;
use crate::reconcile::Sweeps;
use crate::secrets::Secrets;
use crate::together::Together;
use crate::{ConnectError, ValkeyOptions, boot};

/// A store on a Valkey or Redis server, or a cluster of them.
pub struct ValkeyBackend {
    pub(crate) calls: Arc<Calls>,
    pub(crate) partitions: PartitionConfig,
    pub(crate) dice: Arc<dyn Dice>,
    pub(crate) announcer: Announcer,
    pub(crate) outages: Arc<OutageLog>,
    pub(crate) submissions: Arc<Together<PlainWork>>,
    pub(crate) completions: Arc<Together<CompleteArgs>>,
    pub(crate) secrets: Secrets,
    pub(crate) sweeps: Sweeps,
    pub(crate) lane_counter: LaneCounter,
    /// Hints are heard for as long as the store lives.
    pub(crate) _listening: DropGuard,
}

impl ValkeyBackend {
    /// Connects to `valkey://HOST:PORT`, `valkeys://` for TLS, or either with `+cluster`; `redis` stands for the same.
    ///
    /// Looks at the server first, and writes only when it can be used: the functions, if it has none as new, the partition
    /// counts, if the store is new, and the secrets of tokens, where a partition has none.
    pub async fn connect(url: &str, options: ValkeyOptions) -> Result<Self, ConnectError> {
        Self::connecting(url, options).await
    }

    /// Boxed, so that it is compiled here, and not again in every program that connects.
    #[inline(never)]
    fn connecting(url: &str, options: ValkeyOptions) -> BoxFuture<'_, Result<Self, ConnectError>> {
        Box::pin(boot::connect(url, options))
    }
}

impl EngineBackend for ValkeyBackend {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }
}
