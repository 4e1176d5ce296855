//! The two sides next to each other.

use std::fmt;
use std::sync::Arc;

use ff_core::backend::Upkeep;
use ff_core::clock::{Clock, ManualClock};
use ff_core::doctor;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

use super::coverage::Coverage;
use super::dice::SharedDice;
use super::reads;
use super::reference::Reference;
use super::step::Step;
use super::subject::{Made, Subject};
use super::told::{self, Told, ask};

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
    pub(crate) store: Arc<dyn Upkeep>,
    made: Made,
    clock: Arc<ManualClock>,
    dice: Arc<SharedDice>,
    pub(crate) coverage: Coverage,
    steps: usize,
}

impl Compared {
    /// Both sides empty.
    pub fn new(subject: Subject, seed: u64) -> Self {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
        let dice = Arc::new(SharedDice::new(seed));
        let made = subject(PARTITIONS, clock.clone(), dice.clone());
        let reference = Reference::new(PARTITIONS, clock.clone());
        let (store, coverage) = (made.store.clone(), Coverage::default());
        Self { reference, store, made, clock, dice, coverage, steps: 0 }
    }

    /// Takes one step on both sides and compares the answers.
    pub async fn take(&mut self, step: &Step) -> Result<(), Difference> {
        self.steps += 1;
        if let Step::Advance { ms } = step {
            self.clock.advance(*ms);
            return Ok(());
        }
        let operations = self.reference.operations(step);
        let nonce = self.dice.throw();
        let store: Told = match step {
            Step::SubmitMany(_) => reads::submit_many(&*self.store, &operations).await,
            _ => vec![ask(&*self.store, operations[0].clone()).await],
        };
        let model: Told = operations.iter().map(|operation| self.reference.perform(operation, nonce)).collect();
        match step {
            Step::Submit(one) => self.reference.note(one.job, &model[0]),
            Step::SubmitMany(many) => {
                many.iter().zip(&model).for_each(|(one, told)| self.reference.note(one.job, told));
            }
            _ => {}
        }
        operations.iter().zip(&model).for_each(|(operation, told)| self.coverage.count(operation, told));
        differ(format!("the answer to step {}, {step:?}", self.steps), &model, &store)
    }

    /// Compares everything both sides hold, has the doctor look at it, and reads some of it as callers do.
    pub async fn look(&self, closely: bool) -> Result<(), Difference> {
        let now = self.clock.now();
        for partition in 0..PARTITIONS.num_flow_partitions {
            let store = told::refusal(self.store.snapshot(partition).await);
            let model = Ok(self.reference.model.snapshot(partition));
            differ(format!("what partition {partition} holds after {} steps", self.steps), &model, &store)?;
            let findings = model.map(|snapshot| doctor::examine(&snapshot, partition, now)).unwrap_or_default();
            differ(format!("what is wrong with partition {partition}"), &Vec::new(), &findings)?;
            reads::sweep(self, partition).await?;
        }
        reads::look(self, self.steps, closely).await
    }

    /// Lets go of the store, and gives what was seen on the way.
    pub async fn end(self) -> Coverage {
        let Self { reference, store, made, mut coverage, .. } = self;
        reference.model.executions().for_each(|execution| coverage.count_end(execution));
        drop(store);
        drop(made.store);
        made.closing.await;
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
