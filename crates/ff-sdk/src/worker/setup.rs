//! The checked settings of a worker.

use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::outage::OutageLog;
use ff_core::backend::{EngineBackend, LongPoll};
use ff_core::lease::Holder;
use ff_core::types::{Capability, Kind, LaneId, Namespace};

use super::handler::SharedHandler;

/// The values that all handlers of a worker share, one of each type.
pub(super) type States = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// The settings of a worker, after all names and numbers were checked.
pub(super) struct Setup {
    pub(super) backend: Arc<dyn EngineBackend>,
    pub(super) long_poll: Arc<dyn LongPoll>,
    pub(super) holder: Holder,
    pub(super) namespace: Namespace,
    pub(super) lanes: Vec<LaneId>,
    pub(super) kinds: Vec<Kind>,
    pub(super) capabilities: BTreeSet<Capability>,
    pub(super) handlers: HashMap<Kind, SharedHandler>,
    pub(super) states: Arc<States>,
    pub(super) concurrency: usize,
    pub(super) lease_ttl_ms: u64,
    pub(super) drain: Duration,
    pub(super) cancel_grace: Duration,
    pub(super) outages: Arc<OutageLog>,
}
