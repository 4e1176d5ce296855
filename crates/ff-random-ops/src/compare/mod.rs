//! Comparison of the model with a subject.

pub(crate) mod calls;
mod flow;
mod operator;
mod quota;
mod reads;
mod step;
mod stream;
mod suspension;

use std::fmt;
use std::sync::Arc;

use self::calls::CallTarget;
use crate::coverage::Coverage;
use crate::laws::Laws;
use crate::prelude::*;
use crate::reference::{Entry, Reference};
use crate::subject::{Options, Setup, SharedEntropy, Subject};
use crate::transition::Transition;
use crate::{BEGINNING, PARTITIONS};

/// A difference between the two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The subject of the comparison.
    pub about: String,
    pub model: String,
    pub store: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  model: {}\n  store: {}", self.about, self.model, self.store)
    }
}

/// A model and a subject that have performed the same transitions. Without a subject, the model alone with the laws.
pub struct Comparison {
    pub(crate) reference: Reference,
    subject: Option<Box<dyn Subject>>,
    clock: Arc<ManualClock>,
    entropy: Arc<SharedEntropy>,
    transitions: usize,
}

impl Comparison {
    /// Creates both sides, empty.
    pub async fn new(setup: Setup, seed: u64) -> Self {
        let clock = Arc::new(ManualClock::at(BEGINNING));
        let entropy = Arc::new(SharedEntropy::new(seed));
        let subject = match setup.make {
            Some(make) => {
                let options = Options { partitions: PARTITIONS, clock: clock.clone(), entropy: entropy.clone() };
                Some(make(options).await)
            }
            None => None,
        };
        let mut reference = Reference::new(PARTITIONS, clock.clone(), Secret::drawn(entropy.secret()));
        reference.laws = subject.is_none().then(Laws::default);
        reference.sends_messages = setup.mix.messages;
        Self { reference, subject, clock, entropy, transitions: 0 }
    }

    /// Returns the store of the subject.
    pub(crate) fn store(&self) -> &dyn EngineStore {
        let store = self.subject.as_ref().and_then(|subject| subject.store());
        store.unwrap_or_else(|| unreachable!("only what a store is asked is read through its calls"))
    }

    /// Returns the tested access to the calls of the store.
    pub(crate) fn calls(&self) -> &dyn Perform {
        self.way().calls()
    }

    fn way(&self) -> CallTarget<'_> {
        match self.subject.as_ref().and_then(|subject| subject.calls()) {
            Some(backend) => CallTarget::Backend(backend),
            None => CallTarget::Store(self.store()),
        }
    }

    pub(crate) fn has_store(&self) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.store().is_some())
    }

    /// Returns the time of both sides.
    pub(crate) fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Performs one transition on both sides and compares the answers.
    pub async fn take(&mut self, transition: &Transition) -> Result<(), Difference> {
        self.transitions += 1;
        let advance_ms = match transition {
            Transition::Advance { ms } => *ms,
            Transition::AdvanceTo { nth, offset_ms } => self.reference.until(*nth, *offset_ms),
            Transition::Reopen => {
                if let Some(subject) = &mut self.subject {
                    subject.reopen().await;
                    self.reference.coverage.record("reopened the store");
                }
                return self.look(false).await;
            }
            _ => 0,
        };
        if advance_ms > 0 {
            // All operations of a group have the same time.
            self.perform_group().await?;
            self.clock.advance(advance_ms);
        }
        let Some(call) = self.reference.call(transition) else { return Ok(()) };
        let nonce = self.entropy.draw();
        if !self.has_store() {
            self.reference.perform(transition, &call, nonce);
            return self.broken_law(transition);
        }
        let store = calls::ask(self.way(), self.store(), call.clone()).await;
        let model = self.reference.perform(transition, &call, nonce);
        self.reference.log.clear();
        differ(format!("the answer to transition {}, {transition:?}", self.transitions), &model, &store)
    }

    fn broken_law(&mut self, transition: &Transition) -> Result<(), Difference> {
        match self.reference.laws.as_mut().and_then(|laws| laws.broken.take()) {
            None => Ok(()),
            Some(broken) => {
                let about = format!("{broken}\n  at transition {}, {transition:?}", self.transitions);
                Err(Difference { about, model: "as above".into(), store: "none".into() })
            }
        }
    }

    /// Performs the operations of the model since the last group on the subject, and compares each answer.
    async fn perform_group(&mut self) -> Result<(), Difference> {
        let group = std::mem::take(&mut self.reference.log);
        let Some(subject) = self.subject.as_mut().filter(|_| !group.is_empty()) else { return Ok(()) };
        let operations = group.iter().map(|Entry { operation, nonce, .. }| (operation.clone(), *nonce)).collect();
        let answers = subject.perform(operations).await;
        group.iter().zip(&answers).enumerate().try_for_each(|(nth, (entry, answer))| {
            let about = || format!("operation {nth} of a group of {}, {:?}", group.len(), entry.operation);
            differ_in(about, &entry.answer, answer)
        })
    }

    /// Compares all records of both sides, examines them with the doctor, and compares some of the reads of callers.
    pub async fn look(&mut self, closely: bool) -> Result<(), Difference> {
        if !self.has_store() {
            self.perform_group().await?;
        }
        let now = self.clock.now();
        for partition in 0..PARTITIONS.num_flow_partitions {
            let Some(subject) = &mut self.subject else { break };
            let (mut store, mut model) = (subject.snapshot(partition).await, self.reference.model.snapshot(partition));
            // A key that is no longer remembered may still be stored: stores delete such keys lazily.
            for side in [&mut store, &mut model] {
                side.flow_keys.retain(|_, entry| now < entry.until);
            }
            if model != store {
                return Err(self.part_of(&model, &store));
            }
            let findings = doctor::examine(&store, partition, now);
            differ(format!("the doctor's findings on partition {partition}"), &Vec::new(), &findings)?;
            if self.has_store() {
                reads::sweep(self, partition).await?;
            }
        }
        if self.has_store() { reads::look(self, self.transitions, closely).await } else { Ok(()) }
    }

    /// Runs the model until nothing is left to do.
    pub(crate) fn finish(&mut self) -> Result<(), Difference> {
        let finished = self.reference.finish(&self.entropy);
        let broken = self.reference.laws.as_mut().and_then(|laws| laws.broken.take());
        match broken.or(finished.err()) {
            None => Ok(()),
            Some(what) => {
                Err(Difference { about: what, model: "works until nothing is left".into(), store: "none".into() })
            }
        }
    }

    /// Returns the first place where two snapshots differ, and the part of the snapshot that contains it.
    fn part_of(&self, model: &Snapshot, store: &Snapshot) -> Difference {
        let [ours, theirs] = [model, store].map(|side| format!("{side:#?}"));
        let [ours, theirs]: [Vec<_>; 2] = [&ours, &theirs].map(|side| side.lines().collect());
        let at = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
        let is_part = |line: &&&str| line.starts_with("    ") && !line.starts_with("     ") && line.contains(':');
        let part = ours[..ours.len().min(at + 1)].iter().rev().find(is_part).map_or("contents", |line| line.trim());
        let around =
            |side: &[&str]| side.iter().skip(at.saturating_sub(12)).take(24).copied().collect::<Vec<_>>().join("\n");
        let about = format!("{part} after {} transitions", self.transitions);
        Difference { about, model: around(&ours), store: around(&theirs) }
    }

    /// Closes the subject and returns the coverage of the run.
    pub async fn end(mut self) -> Coverage {
        if let Some(subject) = self.subject {
            self.reference.coverage.count_end(&self.reference.model);
            subject.close().await;
        }
        self.reference.coverage
    }
}

/// Returns a difference with both values unless they are equal.
pub(crate) fn differ<T: PartialEq + fmt::Debug>(about: String, model: &T, store: &T) -> Result<(), Difference> {
    differ_in(|| about, model, store)
}

fn differ_in<T: PartialEq + fmt::Debug>(
    about: impl FnOnce() -> String,
    model: &T,
    store: &T,
) -> Result<(), Difference> {
    if model == store {
        return Ok(());
    }
    Err(Difference { about: about(), model: format!("{model:?}"), store: format!("{store:?}") })
}

/// Returns an execution of the reference.
fn find<'r>(reference: &'r Reference, id: &ExecutionId) -> Result<&'r Execution, Refusal> {
    check_id(id, &reference.partitions)?;
    reference.model.find(id).ok_or_else(|| Code::ExecutionNotFound.refusal())
}
