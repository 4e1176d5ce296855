//! The waits of one run of a handler. A wait that is over is a recorded step; the last one may still have to be recorded.
//! It is recorded while the handler goes on: until the next suspension the store tells every claim how it ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::contracts::{GrantedWaitpoint, ReceivedSignal, Resumption, Task};
use ff_core::payload::Payload;
use ff_core::step::{StepKind, StepOutcome, StepRef};
use ff_core::suspension::ResumedBy;
use ff_core::types::{ExecutionId, SignalId, StepKey, StepName, WaitpointKey};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::Instrument;

use super::WaitError;
use crate::worker::handler::failure;
use crate::worker::step::{invalid, record, reference, write};
use crate::{Context, Error, Fault};

/// The waits of a run.
pub(in crate::worker) struct WaitLog {
    entries: Mutex<Entries>,
    /// The wait that the last suspension was, and how it ended.
    last: Vec<(StepRef, LastSuspension)>,
    /// The signals that came with the claim.
    handed: HashMap<SignalId, ReceivedSignal>,
    /// A wait that is being recorded while the handler goes on.
    recording: Mutex<Option<Recording>>,
}

type Recording = Shared<BoxFuture<'static, Result<(), Fault>>>;

#[derive(Default)]
struct Entries {
    /// How often each name was waited for in this run.
    waits: HashMap<StepName, u32>,
    /// How often each waitpoint was waited on in this run.
    used: HashMap<WaitpointKey, u32>,
    /// Made ahead in this run, and not waited on yet.
    ahead: HashMap<WaitpointKey, GrantedWaitpoint>,
}

/// The purpose of the last suspension.
enum LastSuspension {
    /// A wait, which is over.
    Wait(WaitEnd),
    /// A call that had looked so often for the end of its callee.
    Call { looks: u32 },
}

/// A note stored with a suspension for the next run: which wait it is.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Continuation {
    Wait {
        name: StepName,
        #[serde(default, skip_serializing_if = "StepKey::is_empty")]
        key: StepKey,
        /// Its waitpoints, unless its only one has its name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waitpoints: Vec<WaitpointKey>,
        /// A note for the run that continues.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Value>,
    },
    Call {
        name: StepName,
        #[serde(default, skip_serializing_if = "StepKey::is_empty")]
        key: StepKey,
        looks: u32,
    },
}

/// The note of a suspension that began before waits were steps: the wait, and how all waits before it had ended.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EarlierNote {
    wait: EarlierWait,
    #[serde(default)]
    over: Vec<(EarlierWait, ResumedBy, Vec<SignalId>)>,
}

/// Its name, how many waits of that name came before it in a run, and its waitpoints when they are not just its name.
type EarlierWait = (StepName, u32, Vec<WaitpointKey>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Note {
    Continuation(Continuation),
    Earlier(EarlierNote),
}

impl Continuation {
    pub(super) fn wait(step: &StepRef, waitpoints: &[WaitpointKey], note: Option<Value>) -> Self {
        let waitpoints = other_than_name(step, waitpoints);
        Self::Wait { name: step.name.clone(), key: step.key.clone(), waitpoints, note }
    }

    pub(super) fn call(step: &StepRef, looks: u32) -> Self {
        Self::Call { name: step.name.clone(), key: step.key.clone(), looks }
    }
}

/// The waitpoints of a wait, unless its only one has its name.
fn other_than_name(step: &StepRef, waitpoints: &[WaitpointKey]) -> Vec<WaitpointKey> {
    let is_its_name = matches!(waitpoints, [key] if key.as_str() == step.name.as_str());
    if is_its_name { Vec::new() } else { waitpoints.to_vec() }
}

/// A wait that is over, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitEnd {
    pub(super) by: ResumedBy,
    /// The execution that received the signals: a fork has the waits of the one it comes from.
    pub(super) execution_id: ExecutionId,
    pub(super) signals: Vec<SignalId>,
    /// Its waitpoints, unless its only one has its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) waitpoints: Vec<WaitpointKey>,
    /// The note of the run that waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<Value>,
}

impl WaitEnd {
    /// A wait that the signals which came early ended at once.
    pub(super) fn at_once(context: &Context, step: &StepRef, keys: &[WaitpointKey], signals: Vec<SignalId>) -> Self {
        let execution_id = context.task().execution_id;
        Self { by: ResumedBy::Signals, execution_id, signals, waitpoints: other_than_name(step, keys), note: None }
    }

    /// The wait as a step. One that must not time out has failed if it did, so a replay waits again.
    fn outcome(&self, may_time_out: bool) -> Result<StepOutcome, WaitError> {
        if self.by == ResumedBy::Timeout && !may_time_out {
            return Ok(StepOutcome::Failed { failure: failure(&Fault::from(WaitError::TimedOut)) });
        }
        Ok(StepOutcome::Succeeded { result: Payload::json(serde_json::to_vec(self).map_err(Error::Encode)?) })
    }

    fn timed_out(context: &Context) -> Self {
        let execution_id = context.task().execution_id;
        Self { by: ResumedBy::Timeout, execution_id, signals: Vec::new(), waitpoints: Vec::new(), note: None }
    }

    fn uses(&self, step: &StepRef, key: &WaitpointKey) -> bool {
        if self.waitpoints.is_empty() { step.name.as_str() == key.as_str() } else { self.waitpoints.contains(key) }
    }
}

impl WaitLog {
    /// The log from a claim. A suspension that was not a wait of this kind leaves no note that parses as one.
    pub(in crate::worker) fn of(task: &Task, signals: Vec<ReceivedSignal>) -> Self {
        let last = task.resumption.as_ref().and_then(|past| {
            let note = serde_json::from_str(past.continuation.as_deref()?).ok()?;
            Some(waits_of(note, task.execution_id, past))
        });
        let handed = signals.into_iter().map(|received| (received.signal.id, received)).collect();
        Self { entries: Mutex::default(), last: last.unwrap_or_default(), handed, recording: Mutex::default() }
    }

    /// The next wait of a name in this run: the first has no key, the others are counted from 1.
    pub(in crate::worker) fn next(&self, name: &str) -> Result<StepRef, WaitError> {
        let first = reference(StepKind::Wait, name, "")?;
        let nth = {
            let mut entries = self.entries();
            let count = entries.waits.entry(first.name.clone()).or_default();
            *count += 1;
            *count - 1
        };
        if nth == 0 { Ok(first) } else { Ok(reference(StepKind::Wait, name, &nth.to_string())?) }
    }

    /// Counts the waitpoints of a wait of this run.
    pub(super) fn uses(&self, keys: &[WaitpointKey]) {
        let mut entries = self.entries();
        keys.iter().for_each(|key| *entries.used.entry(key.clone()).or_default() += 1);
    }

    /// How a wait ended, if it has. The last one begins to be recorded.
    pub(super) async fn ended(
        &self,
        context: &Context,
        step: &StepRef,
        may_time_out: bool,
    ) -> Result<Option<WaitEnd>, WaitError> {
        self.recorded().await.map_err(WaitError::Step)?;
        if let Some(recorded) = context.steps().find(step) {
            return read(context, step, recorded.outcome).map(Some);
        }
        let Some((_, end)) = self.unrecorded(context).find(|(last, _)| *last == step) else { return Ok(None) };
        // The last step that may be recorded is, before anything else is done that could not be.
        if context.steps().remaining(context) < 2 {
            return self.record(context, step, end, may_time_out).await.map(Some);
        }
        let outcome = end.outcome(may_time_out)?;
        self.start_recording(context, step.clone(), outcome.clone());
        read(context, step, outcome).map(Some)
    }

    /// Records a wait in the background, after the one that is being recorded.
    fn start_recording(&self, context: &Context, step: StepRef, outcome: StepOutcome) {
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, earlier) = (context.clone(), recording.take());
        let task = async move {
            if let Some(earlier) = earlier {
                earlier.await?;
            }
            write(&own, step, None, outcome).await.map(drop)
        };
        let task = tokio::spawn(task.in_current_span());
        let ended = async { task.await.unwrap_or_else(|error| Err(Fault::retryable("panic", error.to_string()))) };
        *recording = Some(ended.boxed().shared());
    }

    /// Returns when the wait that is being recorded is. Every caller is told when it could not be.
    pub(in crate::worker) async fn recorded(&self) -> Result<(), Fault> {
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(recording) = recording { recording.await } else { Ok(()) }
    }

    /// Waits that ended with the last suspension and are not recorded.
    fn unrecorded<'l>(&'l self, context: &'l Context) -> impl Iterator<Item = (&'l StepRef, &'l WaitEnd)> {
        self.last.iter().filter_map(|(step, last)| match last {
            LastSuspension::Wait(end) if context.steps().find(step).is_none() => Some((step, end)),
            _ => None,
        })
    }

    /// Records how a wait ended.
    pub(super) async fn record(
        &self,
        context: &Context,
        step: &StepRef,
        end: &WaitEnd,
        may_time_out: bool,
    ) -> Result<WaitEnd, WaitError> {
        let recording = record(context, step.clone(), None, end.outcome(may_time_out)?);
        let recorded = recording.await.map_err(WaitError::Step)?;
        read(context, step, recorded.outcome)
    }

    /// Records the last wait, if this run has not reached it: the next suspension replaces it.
    pub(in crate::worker) async fn record_last(&self, context: &Context) -> Result<(), WaitError> {
        self.recorded().await.map_err(WaitError::Step)?;
        for (step, end) in self.unrecorded(context) {
            self.record(context, step, end, true).await?;
        }
        Ok(())
    }

    /// How often a call has looked for the end of its callee.
    pub(in crate::worker) fn looks(&self, step: &StepRef) -> u32 {
        match self.last.first() {
            Some((last, LastSuspension::Call { looks })) if last == step => *looks,
            _ => 0,
        }
    }

    /// Whether the next wait on a waitpoint is over already.
    pub(super) async fn is_over(&self, context: &Context, key: &WaitpointKey) -> Result<bool, WaitError> {
        self.recorded().await.map_err(WaitError::Step)?;
        let recorded = context.steps().waits();
        let recorded = recorded
            .iter()
            .filter_map(|(step, recorded)| Some((step, read(context, step, recorded.outcome.clone()).ok()?)))
            .filter(|(step, end)| end.uses(step, key));
        let past = recorded.count() + self.unrecorded(context).filter(|(step, end)| end.uses(step, key)).count();
        Ok(past > self.entries().used.get(key).map_or(0, |used| *used as usize))
    }

    /// Notes that a waitpoint was made ahead.
    pub(super) fn made_ahead(&self, granted: &GrantedWaitpoint) {
        self.entries().ahead.insert(granted.waitpoint_key.clone(), granted.clone());
    }

    /// The waitpoint that was made ahead under a key, for the wait that uses it up.
    pub(super) fn take_ahead(&self, key: &WaitpointKey) -> Option<GrantedWaitpoint> {
        self.entries().ahead.remove(key)
    }

    /// A signal that came with the claim, when it came whole.
    pub(super) fn handed(&self, id: &SignalId) -> Option<ReceivedSignal> {
        let whole = |received: &&ReceivedSignal| received.payload.is_some() || received.signal.payload_bytes == 0;
        self.handed.get(id).filter(whole).cloned()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waits a note tells of, with how they ended.
fn waits_of(note: Note, execution_id: ExecutionId, past: &Resumption) -> Vec<(StepRef, LastSuspension)> {
    let ended =
        |by, signals, waitpoints, note| LastSuspension::Wait(WaitEnd { by, execution_id, signals, waitpoints, note });
    match note {
        Note::Continuation(Continuation::Call { name, key, looks }) => {
            vec![(StepRef { kind: StepKind::Wait, name, key }, LastSuspension::Call { looks })]
        }
        Note::Continuation(Continuation::Wait { name, key, waitpoints, note }) => {
            vec![(StepRef { kind: StepKind::Wait, name, key }, ended(past.by, past.signals.clone(), waitpoints, note))]
        }
        Note::Earlier(EarlierNote { wait, mut over }) => {
            over.push((wait, past.by, past.signals.clone()));
            let to_wait = |((name, nth, waitpoints), by, signals): (EarlierWait, _, _)| {
                Some((nth_wait(&name, nth)?, ended(by, signals, waitpoints, None)))
            };
            over.into_iter().filter_map(to_wait).collect()
        }
    }
}

/// A wait by its name and how many waits of that name came before it in a run: the first has no key.
fn nth_wait(name: &StepName, nth: u32) -> Option<StepRef> {
    let key = if nth == 0 { StepKey::default() } else { StepKey::parse(&nth.to_string()).ok()? };
    Some(StepRef { kind: StepKind::Wait, name: name.clone(), key })
}

/// A wait as it is recorded. The only wait that fails is one that timed out.
fn read(context: &Context, step: &StepRef, outcome: StepOutcome) -> Result<WaitEnd, WaitError> {
    match outcome {
        StepOutcome::Failed { .. } => Ok(WaitEnd::timed_out(context)),
        StepOutcome::Succeeded { result } => serde_json::from_slice(&result.bytes)
            .map_err(|error| WaitError::Step(invalid(step, format!("what is recorded cannot be read: {error}")))),
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{SuspensionId, TimestampMs};

    use super::*;

    fn step(name: &str) -> StepRef {
        reference(StepKind::Wait, name, "").unwrap()
    }

    #[test]
    fn a_note_of_a_wait_reads_back_and_others_do_not() {
        let keys = ["ada", "bob"].map(|key| WaitpointKey::parse(key).unwrap());
        let text = serde_json::to_string(&Continuation::wait(&step("sign-off"), &keys, None)).unwrap();
        assert_eq!(text, r#"{"wait":{"name":"sign-off","waitpoints":["ada","bob"]}}"#);
        let text = serde_json::to_string(&Continuation::wait(&step("ada"), &keys[..1], None)).unwrap();
        assert_eq!(text, r#"{"wait":{"name":"ada"}}"#);
        assert!(serde_json::from_str::<Continuation>(&text).is_ok());
        for other in ["page 7", "{}", "[1]", r#"{"wait":["a",0,[]],"more":1}"#, r#"{"wait":{"name":"a","more":1}}"#] {
            assert!(serde_json::from_str::<Note>(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_note_of_before_waits_were_steps_tells_all_of_them() {
        let signal = SignalId::new();
        let text = format!(
            r#"{{"wait":["tick",1,[]],"over":[[["tick",0,[]],"signals",["{signal}"]],[["all",0,["a","b"]],"timeout",[]]]}}"#
        );
        let past = Resumption {
            suspension_id: SuspensionId::new(),
            by: ResumedBy::Operator,
            at: TimestampMs(0),
            continuation: None,
            signals: vec![],
            with_payload: 0,
        };
        let waits = waits_of(serde_json::from_str(&text).unwrap(), ExecutionId::new(0, uuid::Uuid::nil()), &past);
        let ends = waits.iter().map(|(step, last)| match last {
            LastSuspension::Wait(end) => (step.name.as_str(), step.key.as_str(), end.by, end.signals.len()),
            LastSuspension::Call { .. } => panic!("a call"),
        });
        let (signals, timeout, operator) = (ResumedBy::Signals, ResumedBy::Timeout, ResumedBy::Operator);
        assert_eq!(
            ends.collect::<Vec<_>>(),
            [("tick", "", signals, 1), ("all", "", timeout, 0), ("tick", "1", operator, 0)]
        );
    }

    #[test]
    fn a_wait_is_on_its_own_name_unless_it_is_on_others() {
        let keys = ["ada", "bob"].map(|key| WaitpointKey::parse(key).unwrap());
        let end = |step: &StepRef, keys: &[WaitpointKey]| WaitEnd {
            by: ResumedBy::Signals,
            execution_id: ExecutionId::new(0, uuid::Uuid::nil()),
            signals: vec![],
            waitpoints: other_than_name(step, keys),
            note: None,
        };
        let own = step("ada");
        let on_own = end(&own, &keys[..1]);
        assert!(on_own.uses(&own, &keys[0]) && !on_own.uses(&own, &keys[1]));
        let both = step("sign-off");
        let on_both = end(&both, &keys);
        assert!(on_both.uses(&both, &keys[0]) && on_both.uses(&both, &keys[1]));
        assert!(!on_both.uses(&both, &WaitpointKey::parse("sign-off").unwrap()));
    }
}
