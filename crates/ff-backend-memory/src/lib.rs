//! The store in memory: the rules over plain maps behind one lock. Nothing outlives the process, so it is for tests and
//! experiments. ff-conformance tests it like every other store.

mod api_key;
mod budget;
mod engine;
mod event;
mod execution;
mod explain;
mod flow;
mod hints;
mod lane;
mod lease;
mod quota;
mod schedule;
mod signal;
mod step;
mod stream;
mod suspension;
mod worker;

use std::sync::{Arc, Mutex, MutexGuard};

use ff_core::backend::clock::{Clock, MonotonicClock, SystemClock};
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{Answer, BoxedAnswer, Perform};
use ff_core::contracts::{AdmittedClaim, AdmittedClaims, GrantedClaim, GrantedClaims};
use ff_core::engine_error::EngineError;
use ff_core::model::Model;
use ff_core::operation::query::{self, Query, QueryReply};
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{Kid, TimestampMs};

use crate::hints::Announcer;
use crate::lease::claims;

/// A row is a query, its answer, and how to read the answer from the store.
macro_rules! reads {
    ($($query:ty => $answer:ty: |$store:ident, $args:pat_param| $read:expr;)*) => {$(
        impl ff_core::backend::Handle<$query, $answer> for $crate::MemoryBackend {
            async fn handle(&self, $args: $query) -> ff_core::backend::Answer<$answer> {
                let $store = self;
                Ok($read)
            }
        }
    )*};
}
use reads;

/// A store that lives as long as this value.
pub struct MemoryBackend {
    partitions: PartitionConfig,
    clock: MonotonicClock,
    entropy: Arc<dyn Entropy>,
    model: Mutex<Model>,
    announcer: Announcer,
    outages: OutageLog,
}

impl MemoryBackend {
    /// Makes an empty store with a clock and a source of randomness. Its partitions share their first secret.
    pub fn new(partitions: PartitionConfig, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let ring = KeyRing::of(Kid::first(), Secret::drawn(entropy.secret()));
        let mut model = Model::default();
        (0..partitions.num_flow_partitions).for_each(|partition| model.set_ring(partition, ring.clone()));
        Self {
            partitions,
            clock: MonotonicClock::new(clock, TimestampMs::default()),
            entropy,
            model: Mutex::new(model),
            announcer: Announcer::default(),
            outages: OutageLog::default(),
        }
    }

    /// Performs one mutation. Draws its nonce and reads the clock under the lock, so that both follow the order of the writes. A
    /// mutation that its rule refuses draws a nonce as well.
    fn execute(&self, operation: &Operation) -> Answer<Reply> {
        let mut model = self.model()?;
        if let Operation::RegisterWorker(args) = operation {
            self.check_worker_room(&model, args)?;
        }
        let at = Conditions { partitions: self.partitions, nonce: self.entropy.nonce(), now: self.clock.now() };
        let (reply, hints) = model.execute(operation, &at)?;
        self.announcer.announce(hints);
        Ok(match reply {
            Reply::ClaimDecision(decision) => Reply::Claimed(claims(&model, decision)?),
            Reply::ClaimGranted(GrantedClaim { decision, count }) => {
                Reply::GrantClaimed(GrantedClaims { claims: claims(&model, decision)?, count })
            }
            Reply::ClaimAdmitted(AdmittedClaim { decision, count, running }) => {
                Reply::AdmittedClaimed(AdmittedClaims { claims: claims(&model, decision)?, count, running })
            }
            complete => complete,
        })
    }

    /// Locks the model. Fails if an earlier write stopped half-way.
    fn model(&self) -> Answer<MutexGuard<'_, Model>> {
        self.model.lock().map_err(|_| EngineError::Corrupt("an earlier write stopped half-way".into()))
    }
}

impl Default for MemoryBackend {
    fn default() -> Self {
        Self::new(PartitionConfig::default(), Arc::new(SystemClock), Arc::new(SystemEntropy))
    }
}

impl Perform for MemoryBackend {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move { self.execute(&operation) })
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        match query.check(&self.partitions) {
            Ok(()) => query::dispatch(self, query),
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use ff_core::backend::clock::ManualClock;
    use ff_core::backend::entropy::{Nonce, SeededEntropy};
    use ff_core::contracts::{CancelArgs, SubmitArgs};
    use ff_core::payload::Payload;
    use ff_core::types::{ExecutionId, Kind};
    use ff_engine::Orchestration;
    use uuid::Uuid;

    use super::*;

    /// Source of randomness that counts the nonces it gave.
    struct CountingEntropy(SeededEntropy, AtomicU64);

    impl Entropy for CountingEntropy {
        fn nonce(&self) -> Nonce {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.nonce()
        }

        fn secret(&self) -> [u8; 32] {
            self.0.secret()
        }
    }

    #[tokio::test]
    async fn every_mutation_draws_one_nonce_refused_or_not() {
        let entropy = Arc::new(CountingEntropy(SeededEntropy::new(1), AtomicU64::new(0)));
        let clock = Arc::new(ManualClock::at(TimestampMs(1)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock, entropy.clone());
        let drawn = || entropy.1.load(Ordering::Relaxed);
        let work = || SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
        store.submit(work()).await.unwrap();
        assert_eq!(drawn(), 1);
        store.submit_many(vec![work(), work()]).await.unwrap();
        assert_eq!(drawn(), 3);
        let unknown = ExecutionId::new(0, Uuid::nil());
        store.cancel(CancelArgs { execution_id: unknown, reason: None, requested_by: None }).await.unwrap_err();
        assert_eq!(drawn(), 4);
        store.describe(&unknown).await.unwrap_err();
        assert_eq!(drawn(), 4, "reading is no mutation");
    }
}
