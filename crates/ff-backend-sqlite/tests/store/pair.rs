//! A store and a model that are asked the same, and the macro that does.

use std::sync::Arc;

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::{Answer, EngineStore, Perform};
use ff_core::clock::{Clock, ManualClock};
use ff_core::contracts::{ClaimArgs, Claimed, Input, PumpArgs, ReceivedSignal, Task};
use ff_core::dice::{Dice, SeededDice};
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions};
use ff_core::partition::PartitionConfig;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{Kid, SignalId};

use crate::{Place, findings, options, standing_clock};

const ONE: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// A store and a model that are asked the same.
pub(crate) struct Pair {
    pub(crate) store: SqliteBackend,
    model: Model,
    pub(crate) clock: Arc<ManualClock>,
    dice: SeededDice,
}

impl Pair {
    pub(crate) fn new(place: &Place) -> Self {
        let clock = standing_clock();
        let dice = Arc::new(SeededDice::new(3));
        let options = SqliteOptions { partitions: Some(ONE), clock: clock.clone(), dice, ..options() };
        let store = ff_backend_sqlite::open(&place.path(), options).unwrap();
        let (mut model, dice) = (Model::default(), SeededDice::new(3));
        model.set_ring(0, KeyRing::of(Kid::first(), Secret::drawn(dice.secret())));
        Self { store, model, clock, dice }
    }

    /// Asks the model, which draws as many nonces as the store does.
    pub(crate) fn model<A: Ask>(&mut self, args: A) -> Answer<A::Reply> {
        let at = Conditions { partitions: ONE, nonce: self.dice.nonce(), now: self.clock.now() };
        let (reply, _) = self.model.execute(&args.into_operation(), &at)?;
        Ok(A::decided(reply).unwrap())
    }

    pub(crate) async fn claim(&mut self, args: ClaimArgs) -> Vec<Task> {
        let claims = self.store.claim(args.clone()).await.unwrap();
        let taken = self.model(args).unwrap();
        let tasks: Vec<_> = claims.claimed.iter().map(|claimed| claimed.task.clone()).collect();
        assert_eq!((&tasks, claims.next, claims.limited), (&taken.tasks, taken.next, taken.limited));
        for Claimed { task, payload, signals, inputs } in claims.claimed {
            assert_eq!(Some(&payload), self.model.payload(&task.execution_id));
            assert_eq!(signals, self.handed(&task));
            assert_eq!(inputs, self.passed_on(&task));
        }
        self.compare().await;
        tasks
    }

    /// Fires what is due.
    pub(crate) async fn pump(&mut self) {
        let answer = self.store.pump(0).await;
        assert_eq!(answer, self.model(PumpArgs { partition: 0 }));
        self.compare().await;
    }

    /// The signals a task is handed, all of them small enough to come with their bytes.
    fn handed(&self, task: &Task) -> Vec<ReceivedSignal> {
        let id = &task.execution_id;
        let received = |signal: &SignalId| ReceivedSignal {
            signal: self.model.signals(id).iter().find(|known| known.id == *signal).unwrap().clone(),
            payload: self.model.signal_payload(id, signal).cloned(),
        };
        task.resumption.iter().flat_map(|resumption| resumption.signals.iter().map(received)).collect()
    }

    /// The inputs a task is handed.
    fn passed_on(&self, task: &Task) -> Vec<Input> {
        let Some(flow) = task.flow.as_ref().filter(|flow| flow.inputs > 0) else { return Vec::new() };
        let edges = self.model.edges_after(&flow.flow_id, None);
        let into = edges.filter(|edge| edge.downstream_execution_id == task.execution_id);
        Input::handed(into, |upstream| self.model.result(upstream).cloned())
    }

    pub(crate) async fn compare(&self) {
        assert_eq!(self.store.snapshot(0).await.unwrap(), self.model.snapshot(0));
        let swept = self.store.sweep(0).await.unwrap();
        assert_eq!((swept.ready, swept.next_due), (self.model.ready(0), self.model.next_due(0)));
        assert_eq!(findings(&self.store).await, []);
    }
}

/// Asks both the same, and expects the same.
macro_rules! both {
    ($pair:ident.$operation:ident($args:expr)) => {{
        let args = $args;
        let answer = $pair.store.$operation(args.clone()).await;
        assert_eq!(answer, $pair.model(args));
        $pair.compare().await;
        answer
    }};
}
pub(crate) use both;
