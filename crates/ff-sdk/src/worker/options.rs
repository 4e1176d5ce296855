//! A worker being set up.

use std::any::TypeId;
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{EngineBackend, LongPoll};
use ff_core::contracts::{check_capabilities, check_claim};
use ff_core::engine_error::{Code, Refusal};
use ff_core::lease::Holder;
use ff_core::limits;
use ff_core::types::{Capability, Kind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use uuid::Uuid;

use super::handler::SharedHandler;
use super::registration::asked_to_stop;
use super::setup::{Setup, States};
use super::{Handler, running};
use crate::Error;
use crate::flowfabric::check_named;

/// A worker: handlers by kind, and how they are run.
///
/// Kinds it has no handler for are left to other workers. It renews its leases at a third of their TTL, passes
/// cancellation to the handler, turns a panic into a failure, is listed among the workers that are there, and on
/// SIGTERM or Ctrl-C finishes the executions it holds before it returns.
pub struct Worker {
    pub(super) backend: Arc<dyn EngineBackend>,
    pub(super) long_poll: Arc<dyn LongPoll>,
    pub(super) name: String,
    /// The namespace of the key that a server is shown.
    own: Option<Namespace>,
    /// The one that was named.
    namespace: Option<String>,
    pub(super) lanes: Vec<String>,
    capabilities: Vec<String>,
    pub(super) handlers: HashMap<String, SharedHandler>,
    pub(super) states: States,
    pub(super) concurrency: usize,
    pub(super) lease_ttl: Duration,
    pub(super) drain: Duration,
    pub(super) cancel_grace: Duration,
}

impl Worker {
    pub(crate) fn new(
        name: &str,
        backend: Arc<dyn EngineBackend>,
        long_poll: Arc<dyn LongPoll>,
        own: Option<Namespace>,
    ) -> Self {
        Self {
            backend,
            long_poll,
            name: name.to_owned(),
            own,
            namespace: None,
            lanes: Vec::new(),
            capabilities: Vec::new(),
            handlers: HashMap::new(),
            states: States::new(),
            concurrency: 1,
            lease_ttl: Duration::from_millis(limits::LEASE_TTL_MS),
            drain: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(30),
        }
    }

    /// Runs `handler` for work of `kind`.
    pub fn on<A>(mut self, kind: &str, handler: impl Handler<A>) -> Self {
        let handler: SharedHandler = Arc::new(move |context| handler.call(context));
        self.handlers.insert(kind.to_owned(), handler);
        self
    }

    /// Gives every handler something to share, found again by its type.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    /// Takes work from this lane; from several, in the order given, when called again. `default` when never called.
    pub fn lane(mut self, lane: &str) -> Self {
        self.lanes.push(lane.to_owned());
        self
    }

    /// Takes work that requires this of its worker, beside work that requires nothing: a word (`gpu`), or a key and a value
    /// (`region=eu`). May be called again; work that requires several is taken by a worker that has all of them.
    pub fn capability(mut self, capability: &str) -> Self {
        self.capabilities.push(capability.to_owned());
        self
    }

    /// Takes work of this tenant; of that of the key, or of `default`, when never called.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// How many pieces of work it runs at once.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// How long work stays ours without a sign of life.
    pub fn lease_ttl(mut self, ttl: Duration) -> Self {
        self.lease_ttl = ttl;
        self
    }

    /// How long its executions may take to finish once it is asked to stop.
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// How long a handler may go on after its work was taken away before it is dropped.
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }

    /// Works until the process is asked to stop, then finishes the executions it holds.
    pub async fn run(self) -> Result<(), Error> {
        self.run_until(asked_to_stop()).await
    }

    /// Works until `stop` is ready, then finishes what it holds. It ends by itself, with an error, when the server no longer takes
    /// its key.
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send) -> Result<(), Error> {
        let setup = self.set_up()?;
        Ok(running::run(setup, Box::pin(stop)).await?)
    }

    fn set_up(self) -> Result<Setup, Error> {
        let worker_id = WorkerId::parse(&self.name).map_err(|error| Refusal::invalid("worker", error))?;
        let instance = format!("{}-{}", self.name, &Uuid::now_v7().simple().to_string()[20..]);
        let worker_instance_id =
            WorkerInstanceId::parse(&instance).map_err(|error| Refusal::invalid("worker", error))?;
        let named = self.namespace.as_deref().map(Namespace::parse).transpose();
        let named = named.map_err(|error| Refusal::invalid("namespace", error))?;
        check_named(named.as_ref(), self.own.as_ref())?;
        let namespace = named.unwrap_or_else(Namespace::default_name);
        let mut lanes = Vec::new();
        for lane in &self.lanes {
            lanes.push(LaneId::parse(lane).map_err(|error| Refusal::invalid("lane", error))?);
        }
        if lanes.is_empty() {
            lanes.push(LaneId::default_name());
        }
        let mut capabilities = BTreeSet::new();
        for text in &self.capabilities {
            let bad =
                |error| Refusal::new(Code::InvalidCapabilities).at("capability").because(format!("{error}: {text:?}"));
            capabilities.insert(Capability::parse(text).map_err(bad)?);
        }
        check_capabilities(&capabilities)?;
        let mut handlers = HashMap::new();
        for (kind, handler) in self.handlers {
            handlers.insert(Kind::parse(&kind).map_err(|error| Refusal::invalid("kind", error))?, handler);
        }
        if handlers.is_empty() {
            return Err(Refusal::invalid("handlers", "must handle at least one kind: call .on(kind, handler)").into());
        }
        let kinds: Vec<_> = handlers.keys().cloned().collect();
        let lease_ttl_ms = u64::try_from(self.lease_ttl.as_millis()).unwrap_or(u64::MAX);
        check_claim(self.concurrency, &kinds, lease_ttl_ms).map_err(|mut refusal| {
            if refusal.field.as_deref() == Some("max") {
                refusal.field = Some("concurrency".to_owned());
            }
            refusal
        })?;
        Ok(Setup {
            backend: self.backend,
            long_poll: self.long_poll,
            holder: Holder { worker_id, worker_instance_id },
            namespace,
            lanes,
            kinds,
            capabilities,
            handlers,
            states: Arc::new(self.states),
            concurrency: self.concurrency,
            lease_ttl_ms,
            drain: self.drain,
            cancel_grace: self.cancel_grace,
            outages: Arc::default(),
        })
    }
}
