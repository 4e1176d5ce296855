//! The two sides next to each other.

use std::fmt;
use std::sync::Arc;

use ff_core::backend::EngineStore;
use ff_core::clock::{Clock, ManualClock};
use ff_core::dice::{Dice, Nonce};
use ff_core::doctor;
use ff_core::partition::PartitionConfig;
use ff_core::snapshot::Snapshot;
use ff_core::token::Secret;
use ff_core::types::TimestampMs;

use super::coverage::Coverage;
use super::dice::SharedDice;
use super::flow::Plan;
use super::reference::Reference;
use super::step::Step;
use super::subject::{Make, Subject};
use super::told::{self, Told, ask};
use super::{flow, reads, waiting};

/// Few, so that jobs meet.
const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 3, num_budget_partitions: 1, num_quota_partitions: 1 };

/// Where the two sides part.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What was compared.
    pub about: String,
    pub model: String,
    pub store: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  model: {}\n  store: {}", self.about, self.model, self.store)
    }
}

/// A model and a store that have seen the same steps.
pub struct Compared {
    pub(crate) reference: Reference,
    subject: Box<dyn Subject>,
    clock: Arc<ManualClock>,
    dice: Arc<SharedDice>,
    pub(crate) coverage: Coverage,
    steps: usize,
}

impl Compared {
    /// Both sides empty.
    pub async fn new(make: Make, seed: u64) -> Self {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
        let dice = Arc::new(SharedDice::new(seed));
        let subject = make(PARTITIONS, clock.clone(), dice.clone()).await;
        let reference = Reference::new(PARTITIONS, clock.clone(), Secret::drawn(dice.secret()));
        Self { reference, subject, clock, dice, coverage: Coverage::default(), steps: 0 }
    }

    /// The side that is tested.
    pub(crate) fn store(&self) -> &dyn EngineStore {
        self.subject.store()
    }

    /// What time it is for both sides.
    pub(crate) fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Takes one step on both sides and compares the answers.
    pub async fn take(&mut self, step: &Step) -> Result<(), Difference> {
        self.steps += 1;
        match step {
            Step::Advance { ms } => {
                self.clock.advance(*ms);
                return Ok(());
            }
            Step::Reopen => {
                self.subject.reopen().await;
                self.coverage.count_reopening();
                return self.look(false).await;
            }
            Step::SubmitFlow(plan) => return self.submit(step, plan).await,
            Step::Operate(order) => {
                let about = format!("the answer to step {}, {step:?}", self.steps);
                return self.operate(order, about).await;
            }
            _ => {}
        }
        let operations = self.reference.operations(step);
        let nonce = self.dice.throw();
        let store: Told = match step {
            Step::SubmitMany(_) => reads::submit_many(self.store(), &operations).await,
            Step::Rotate { .. } => waiting::rotate_everywhere(self.store(), &operations).await,
            _ => vec![ask(self.store(), operations[0].clone()).await],
        };
        let escalated = self.reference.escalated();
        let revision = if let Step::Grow(growth) = step { self.reference.revision(growth.flow) } else { 0 };
        let (before, leaves) = (self.reference.model.executions().count(), self.reference.leaves);
        let model: Told = operations.iter().map(|operation| self.reference.perform(operation, nonce)).collect();
        self.coverage.count_leaves(self.reference.leaves - leaves);
        self.coverage.count_forgotten(before.saturating_sub(self.reference.model.executions().count()));
        match step {
            Step::Submit(one) => self.reference.note(one.job, &model[0]),
            Step::SubmitMany(many) => {
                many.iter().zip(&model).for_each(|(one, told)| self.reference.note(one.job, told));
            }
            Step::Grow(growth) if model[0].is_ok() && self.reference.revision(growth.flow) == revision => {
                self.coverage.count_growth_before();
            }
            _ => self.reference.note_flow(step, &model[0]),
        }
        operations.iter().zip(&model).for_each(|(operation, told)| self.coverage.count(operation, told));
        self.coverage.count_escalations(self.reference.escalated().difference(&escalated).count());
        differ(format!("the answer to step {}, {step:?}", self.steps), &model, &store)
    }

    /// Throws the dice for both sides.
    pub(super) fn throw(&self) -> Nonce {
        self.dice.throw()
    }

    /// Submits a graph, as one call to the store and part by part to the model.
    async fn submit(&mut self, step: &Step, plan: &Plan) -> Result<(), Difference> {
        let nonce = self.dice.throw();
        let store = flow::submit(self.store(), plan).await;
        let model = self.reference.submit(plan, nonce);
        self.coverage.count_answer("StageFlow", &model);
        differ(format!("the answer to step {}, {step:?}", self.steps), &model, &store)
    }

    /// Compares everything both sides hold, has the doctor look at it, and reads some of it as callers do.
    pub async fn look(&self, closely: bool) -> Result<(), Difference> {
        let now = self.clock.now();
        for partition in 0..PARTITIONS.num_flow_partitions {
            let store = told::refusal(self.store().snapshot(partition).await).unwrap();
            let model = self.reference.model.snapshot(partition);
            if model != store {
                return Err(self.part_of(&model, &store));
            }
            let findings = doctor::examine(&store, partition, now);
            differ(format!("what is wrong with partition {partition}"), &Vec::new(), &findings)?;
            reads::sweep(self, partition).await?;
        }
        reads::look(self, self.steps, closely).await
    }

    /// The first part of two snapshots that differs.
    fn part_of(&self, model: &Snapshot, store: &Snapshot) -> Difference {
        let after = |part: &str| format!("the {part} after {} steps", self.steps);
        let parts = differ(after("executions"), &model.executions, &store.executions)
            .and(differ(after("attempts"), &model.attempts, &store.attempts))
            .and(differ(after("lease history"), &model.leases, &store.leases))
            .and(differ(after("payloads"), &model.payloads, &store.payloads))
            .and(differ(after("results"), &model.results, &store.results))
            .and(differ(after("keys"), &model.keys, &store.keys))
            .and(differ(after("waitpoints"), &model.waitpoints, &store.waitpoints))
            .and(differ(after("signals"), &model.signals, &store.signals))
            .and(differ(after("bytes of signals"), &model.signal_payloads, &store.signal_payloads))
            .and(differ(after("keys of suspensions"), &model.suspend_keys, &store.suspend_keys))
            .and(differ(after("keys of signals"), &model.signal_keys, &store.signal_keys))
            .and(differ(after("waitpoints made ahead"), &model.pending_waitpoints, &store.pending_waitpoints))
            .and(differ(after("feed"), &model.deliveries, &store.deliveries))
            .and(differ(after("flows"), &model.flows, &store.flows))
            .and(differ(after("edges"), &model.edges, &store.edges))
            .and(differ(after("groups"), &model.groups, &store.groups))
            .and(differ(after("keys of flows"), &model.flow_keys, &store.flow_keys))
            .and(differ(after("events of flows"), &model.flow_events, &store.flow_events))
            .and(differ(after("indexes of flows"), &model.flow_indexes, &store.flow_indexes))
            .and(differ(after("secrets"), &model.ring, &store.ring))
            .and(differ(after("lanes"), &model.lanes, &store.lanes))
            .and(differ(after("workers"), &model.workers, &store.workers))
            .and(differ(after("feed of what happens"), &(model.feed, &model.told), &(store.feed, &store.told)))
            .and(differ(after("indexes"), &model.indexes, &store.indexes))
            .and(differ(after("contents"), model, store));
        parts.err().unwrap_or_else(|| unreachable!("they differ"))
    }

    /// Lets go of the store, and gives what was seen on the way.
    pub async fn end(self) -> Coverage {
        let Self { reference, subject, mut coverage, .. } = self;
        coverage.count_all(&reference.model);
        subject.close().await;
        coverage
    }
}

/// Fails with both sides when they are not the same.
pub(crate) fn differ<T: PartialEq + fmt::Debug>(about: String, model: &T, store: &T) -> Result<(), Difference> {
    if model == store {
        return Ok(());
    }
    Err(Difference { about, model: format!("{model:?}"), store: format!("{store:?}") })
}
