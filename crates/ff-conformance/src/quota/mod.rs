//! Conformance tests for quotas.

pub(crate) mod changing;
pub(crate) mod counting;
pub(crate) mod defining;
pub(crate) mod limiting;
pub(crate) mod rating;
pub(crate) mod recovering;

use ff_core::quota::{QuotaPolicy, Rate};
use ff_engine::Engine;

use crate::prelude::*;

/// A builder of quota policies.
pub(crate) struct Quota {
    world: World,
    args: PutQuotaArgs,
}

impl Quota {
    /// Returns a policy of this name that applies to the whole default namespace.
    pub(crate) fn new(world: &World, name: &str) -> Self {
        let scope = "namespace".parse().unwrap();
        let definition = Some(QuotaDefinition { scope, per: None, rate: None, max_concurrent: None });
        let name = QuotaName::parse(name).unwrap();
        Self { world: world.clone(), args: PutQuotaArgs { namespace: Namespace::default_name(), name, definition } }
    }

    fn with(mut self, change: impl FnOnce(&mut QuotaDefinition)) -> Self {
        change(self.args.definition.as_mut().unwrap());
        self
    }

    pub(crate) fn of(mut self, namespace: &str) -> Self {
        self.args.namespace = Namespace::parse(namespace).unwrap();
        self
    }

    pub(crate) fn scope(self, scope: &str) -> Self {
        self.with(|definition| definition.scope = scope.parse().unwrap())
    }

    pub(crate) fn per(self, key: &str) -> Self {
        self.with(|definition| definition.per = Some(key.parse().unwrap()))
    }

    pub(crate) fn rate(self, limit: u64, window_ms: u64) -> Self {
        self.with(|definition| definition.rate = Some(Rate { limit, window_ms }))
    }

    pub(crate) fn at_once(self, most: u32) -> Self {
        self.with(|definition| definition.max_concurrent = Some(most))
    }

    pub(crate) async fn try_put(self) -> Answer<QuotaPolicy> {
        self.world.backend.put_quota(self.args).await
    }

    pub(crate) async fn put(self) -> QuotaPolicy {
        self.try_put().await.unwrap()
    }
}

pub(crate) fn named(name: &str) -> QuotaRef {
    QuotaRef { namespace: Namespace::default_name(), name: QuotaName::parse(name).unwrap() }
}

/// Submits `count` executions of a customer.
pub(crate) async fn submit_for(world: &World, customer: &str, count: usize) -> Vec<ExecutionId> {
    let work = (0..count).map(|_| world.job("send").tag("customer", customer).args()).collect();
    let submitted = world.backend.submit_many(work).await.unwrap();
    submitted.into_iter().map(|one| one.unwrap().execution_id).collect()
}

/// Claims every execution that may start now.
pub(crate) async fn claim_all(world: &World) -> Vec<LeasedExecution> {
    world.worker("holder").claim_up_to(100).await
}

/// Starts an engine that gives slots back, until the world ends.
pub(crate) fn with_engine(world: &World) {
    let engine = Engine::start(world.engine_store.clone());
    world.at_its_end(engine.stop());
}

/// Claims until `count` executions are held, and waits for them.
pub(crate) async fn get(world: &World, count: usize) -> Vec<LeasedExecution> {
    let mut held = Vec::new();
    while held.len() < count {
        let some = world.worker("waiting").next(count - held.len(), ms(50_000)).await;
        assert!(!some.is_empty(), "{count} may start, and only {} came", held.len());
        held.extend(some);
    }
    held
}

/// Returns the number of executions in a state.
pub(crate) async fn count_in(world: &World, state: PublicState) -> usize {
    let filter = Filter { state: Some(state), ..Filter::everything(Namespace::default_name()) };
    world.backend.list(ListArgs { filter, after: None, limit: limits::PAGE }).await.unwrap().executions.len()
}
