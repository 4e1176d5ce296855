//! A fixture for tests of rules that need several records: one execution, its worker, and a clock that the test controls.

use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::doctor::examine;
use crate::engine_error::{Code, Refusal};
use crate::execution::Execution;
use crate::execution::contracts::SubmitArgs;
use crate::lease::contracts::{ClaimArgs, Task};
use crate::lease::{Fence, Holder};
use crate::model::Model;
use crate::operation::{Ask, Conditions, PumpArgs};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::rule::due::PumpedPartition;
use crate::rule::samples::{held, work};
use crate::rule::view::View;
use crate::signal::contracts::{DeliverArgs, DeliveredSignal, WaitpointRef};
use crate::suspension::contracts::{
    CreateWaitpointArgs, GrantedWaitpoint, SuspendArgs, SuspendedExecution, WaitpointBinding,
};
use crate::suspension::{Condition, Waitpoint};
use crate::token::{KeyRing, PresentedToken, Secret};
use crate::types::{ExecutionId, IdempotencyKey, Kid, SignalName, TimestampMs, WaitpointKey};

/// A model that contains one execution.
pub(crate) struct ExecutionFixture {
    pub(crate) model: Model,
    entropy: SeededEntropy,
    pub(crate) id: ExecutionId,
}

impl ExecutionFixture {
    /// Creates a fixture whose execution is claimed at `now`, with a lease of thirty seconds.
    pub(crate) fn running(now: TimestampMs) -> Self {
        Self::with(&work(), now)
    }

    pub(crate) fn with(work: &SubmitArgs, now: TimestampMs) -> Self {
        let mut fixture = Self::waiting(work, now);
        fixture.claim(now);
        fixture
    }

    /// Creates a fixture whose execution is submitted at `now`.
    pub(crate) fn waiting(work: &SubmitArgs, now: TimestampMs) -> Self {
        let partition = work.execution_id(&PartitionConfig::default()).partition();
        let mut model = Model::default();
        model.set_ring(partition, KeyRing::of(Kid::first(), Secret::drawn([7; 32])));
        let mut fixture =
            Self { model, entropy: SeededEntropy::new(1), id: work.execution_id(&PartitionConfig::default()) };
        fixture.ask(work.clone(), now).unwrap();
        fixture
    }

    /// Executes an operation, and checks the result with the doctor.
    pub(crate) fn ask<A: Ask>(&mut self, args: A, now: TimestampMs) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: PartitionConfig::default(), nonce: self.entropy.nonce(), now };
        let operation = args.into_operation();
        let before = self.model.snapshot(self.id.partition());
        let reply = self.model.execute(&operation, &at);
        let after = self.model.snapshot(self.id.partition());
        assert_eq!(examine(&after, self.id.partition(), now), [], "after {operation:?}");
        let (reply, _) = reply.inspect_err(|_| assert!(before == after, "a refusal wrote something"))?;
        Ok(A::decided(reply).unwrap())
    }

    /// Executes an operation that must be refused, and returns the code of the refusal.
    pub(crate) fn refused<A: Ask>(&mut self, args: A, now: TimestampMs) -> Code
    where
        A::Reply: std::fmt::Debug,
    {
        self.ask(args, now).unwrap_err().code
    }

    pub(crate) fn execution(&self) -> &Execution {
        self.model.find(&self.id).unwrap()
    }

    pub(crate) fn state(&self) -> &'static str {
        self.execution().public_state().as_str()
    }

    /// Returns the fence of the execution's lease.
    pub(crate) fn fence(&self) -> Fence {
        held(self.execution())
    }

    pub(crate) fn claim(&mut self, now: TimestampMs) -> Task {
        let args = ClaimArgs::new(self.id.partition(), Holder::parse("w", "w-1").unwrap());
        self.ask(args, now).unwrap().tasks.remove(0)
    }

    pub(crate) fn pump(&mut self, now: TimestampMs) -> PumpedPartition {
        self.ask(PumpArgs { partition: self.id.partition() }, now).unwrap()
    }

    /// Returns the arguments of a suspension that waits for any signal at a new waitpoint.
    pub(crate) fn suspension(&self, on: &str) -> SuspendArgs {
        SuspendArgs::new(self.id, self.fence(), key(on))
    }

    /// Returns the arguments of a suspension that waits for a condition over new waitpoints.
    pub(crate) fn suspension_for(&self, condition: Condition, on: &[&str]) -> SuspendArgs {
        let waitpoints = on.iter().map(|text| WaitpointBinding::Fresh { key: key(text) }).collect();
        SuspendArgs { waitpoints, condition, ..self.suspension(on[0]) }
    }

    pub(crate) fn suspend(&mut self, on: &str, now: TimestampMs) -> SuspendedExecution {
        let args = self.suspension(on);
        self.ask(args, now).unwrap()
    }

    /// Returns the arguments of a pending waitpoint, which expires after one second.
    pub(crate) fn pending(&self, of: &str) -> CreateWaitpointArgs {
        CreateWaitpointArgs { execution_id: self.id, fence: self.fence(), key: key(of), expires_in_ms: 1_000 }
    }

    /// Returns the arguments of a signal to a waitpoint, with the waitpoint's token.
    pub(crate) fn signal(&self, to: &GrantedWaitpoint, name: &str) -> DeliverArgs {
        let token = PresentedToken::from(&to.waitpoint_token);
        let args =
            DeliverArgs::new(self.id, WaitpointRef::Id(to.waitpoint_id), token, SignalName::parse(name).unwrap());
        DeliverArgs { payload: Some(Payload::json(format!("\"{name}\""))), ..args }
    }

    pub(crate) fn deliver(&mut self, to: &GrantedWaitpoint, name: &str, now: TimestampMs) -> DeliveredSignal {
        let args = self.signal(to, name);
        self.ask(args, now).unwrap()
    }

    pub(crate) fn waitpoint(&self, granted: &GrantedWaitpoint) -> &Waitpoint {
        self.model.waitpoint(&self.id, &granted.waitpoint_id).unwrap().unwrap()
    }

    /// Returns the names of the signals that a task delivers to its worker.
    pub(crate) fn signal_names(&self, task: &Task) -> Vec<String> {
        let resumption = task.resumption.as_ref().unwrap();
        let name = |id| self.model.signals(&self.id).iter().find(|signal| signal.id == id).unwrap().name.to_string();
        resumption.signals.iter().map(|id| name(*id)).collect()
    }
}

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

pub(crate) fn idempotency(text: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(text).unwrap())
}
