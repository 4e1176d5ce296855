//! The builder of a worker.

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
use super::registration::stop_signal;
use super::setup::{Setup, States};
use super::{Handler, running};
use crate::Error;
use crate::flowfabric::check_named;

/// A worker: its handlers by kind, and its settings.
///
/// The worker leaves kinds without a handler to other workers. It renews its leases every third of their TTL, passes
/// cancellation to the handler, reports a panic as a failure, and is listed among the registered workers. On SIGTERM or
/// Ctrl-C it finishes the executions it holds before it returns.
pub struct Worker {
    pub(super) backend: Arc<dyn EngineBackend>,
    pub(super) long_poll: Arc<dyn LongPoll>,
    pub(super) name: String,
    /// The namespace of the API key, if the key belongs to one.
    own: Option<Namespace>,
    /// The namespace that was named explicitly.
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

    /// Runs `handler` for executions of `kind`.
    pub fn on<A>(mut self, kind: &str, handler: impl Handler<A>) -> Self {
        let handler: SharedHandler = Arc::new(move |context| handler.call(context));
        self.handlers.insert(kind.to_owned(), handler);
        self
    }

    /// Shares a value with all handlers, which find it by its type. A second value of the same type replaces the first.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    /// Claims work from this lane. When called again, the worker claims from all named lanes, in the order of the calls. The
    /// default is the lane `default`.
    pub fn lane(mut self, lane: &str) -> Self {
        self.lanes.push(lane.to_owned());
        self
    }

    /// Gives the worker a capability: a name (`gpu`), or a key and a value (`region=eu`). It then also claims executions
    /// that require this capability. When called again, the worker has all of them; an execution that requires several is
    /// claimed only by a worker that has all of them.
    pub fn capability(mut self, capability: &str) -> Self {
        self.capabilities.push(capability.to_owned());
        self
    }

    /// Claims executions of this namespace. The default is the namespace of the API key or else `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Sets the maximum number of executions that run at the same time. The default is 1.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Sets the TTL of the leases: after this time without a renewal, another worker can claim the execution.
    pub fn lease_ttl(mut self, ttl: Duration) -> Self {
        self.lease_ttl = ttl;
        self
    }

    /// Sets the time in which running executions may finish once the worker is asked to stop. The default is 30 s.
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// Sets how long a handler may continue after it was asked to stop, before it is dropped. The default is 30 s.
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }

    /// Runs the worker until the process receives SIGTERM or Ctrl-C. Then it finishes the executions it holds.
    pub async fn run(self) -> Result<(), Error> {
        self.run_until(stop_signal()).await
    }

    /// Runs the worker until `stop` is ready. Then it finishes the executions it holds. It also ends, with an error, when
    /// the server no longer accepts its API key.
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
