//! The store on Valkey.

use std::sync::Arc;

use ff_core::backend::entropy::Entropy;
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{BoxedAnswer, Perform};
use ff_core::contracts::CompleteArgs;
use ff_core::operation::query::{self, Query, QueryReply};
use ff_core::operation::{self, Operation, Reply};
use ff_core::partition::PartitionConfig;
use tokio_util::sync::DropGuard;

use crate::call::{Calls, Coalescer, Submission};
use crate::flow::reconcile::Sweeps;
use crate::hints::Announcer;
use crate::lane::counter::LaneCounter;
use crate::suspension::secrets::Secrets;

/// A store on a Valkey or Redis server, or a cluster of them.
pub struct ValkeyBackend {
    pub(crate) calls: Arc<Calls>,
    pub(crate) partitions: PartitionConfig,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) announcer: Announcer,
    pub(crate) outages: Arc<OutageLog>,
    pub(crate) submissions: Arc<Coalescer<Submission>>,
    pub(crate) completions: Arc<Coalescer<CompleteArgs>>,
    pub(crate) secrets: Secrets,
    pub(crate) sweeps: Sweeps,
    pub(crate) lane_counter: LaneCounter,
    /// Keeps the listener for hints running as long as the store exists.
    pub(crate) _listening: DropGuard,
}

impl Perform for ValkeyBackend {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        match operation.check(&self.partitions) {
            Ok(()) => operation::dispatch(self, operation),
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        match query.check(&self.partitions) {
            Ok(()) => query::dispatch(self, query),
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }
}

/// Implements operations and queries that are one call of a function or of the store.
macro_rules! functions {
    ($($request:ty => $answer:ty: |$store:ident, $args:pat_param| $call:expr;)*) => {$(
        impl ff_core::backend::Handle<$request, $answer> for crate::ValkeyBackend {
            async fn handle(&self, $args: $request) -> ff_core::backend::Answer<$answer> {
                let $store = self;
                let answer = $call.await?;
                Ok(answer)
            }
        }
    )*};
}
pub(crate) use functions;
