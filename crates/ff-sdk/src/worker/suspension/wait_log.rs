//! The waits of one run of a handler. A finished wait is a recorded step. The last one is recorded while the handler
//! continues, which is safe: until the next suspension the store returns its end with every claim.

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
    /// The waits that the note of the last suspension names, with their ends.
    last: Vec<(StepRef, LastSuspension)>,
    /// The signals that came with the claim.
    signals: HashMap<SignalId, ReceivedSignal>,
    /// The wait that is being recorded while the handler continues.
    recording: Mutex<Option<Recording>>,
}

type Recording = Shared<BoxFuture<'static, Result<(), Fault>>>;

#[derive(Default)]
struct Entries {
    /// Number of waits of each name in this run.
    waits: HashMap<StepName, u32>,
    /// Number of waits on each waitpoint in this run.
    used: HashMap<WaitpointKey, u32>,
    /// The waitpoints created in advance in this run that no wait has used yet.
    ahead: HashMap<WaitpointKey, GrantedWaitpoint>,
}

/// The purpose of the last suspension.
enum LastSuspension {
    /// A wait, with its end.
    Wait(WaitEnd),
    /// A call, with the number of its checks for the end of the callee.
    Call { looks: u32 },
}

/// The note that is stored with a suspension. It names the wait or call for the next run.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Continuation {
    Wait {
        name: StepName,
        #[serde(default, skip_serializing_if = "StepKey::is_empty")]
        key: StepKey,
        /// The waitpoints of the wait; empty when the only one has the name of the wait.
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

/// The earlier form of the note, in suspensions that began before waits were recorded as steps: the wait, and the ends of
/// all waits before it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EarlierNote {
    wait: EarlierWait,
    #[serde(default)]
    over: Vec<(EarlierWait, ResumedBy, Vec<SignalId>)>,
}

/// The name of a wait, the number of earlier waits of that name in a run, and its waitpoints as in a note.
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

/// Returns the waitpoints of a wait; empty when the only one has the name of the wait.
fn other_than_name(step: &StepRef, waitpoints: &[WaitpointKey]) -> Vec<WaitpointKey> {
    let is_its_name = matches!(waitpoints, [key] if key.as_str() == step.name.as_str());
    if is_its_name { Vec::new() } else { waitpoints.to_vec() }
}

/// The recorded end of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitEnd {
    pub(super) by: ResumedBy,
    /// The execution that received the signals. In a fork it is the original execution, whose waits were copied.
    pub(super) execution_id: ExecutionId,
    pub(super) signals: Vec<SignalId>,
    /// The waitpoints of the wait; empty when the only one has the name of the wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) waitpoints: Vec<WaitpointKey>,
    /// The note of the run that waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<Value>,
}

impl WaitEnd {
    /// Creates the end of a wait that early signals ended at once.
    pub(super) fn at_once(context: &Context, step: &StepRef, keys: &[WaitpointKey], signals: Vec<SignalId>) -> Self {
        let execution_id = context.task().execution_id;
        Self { by: ResumedBy::Signals, execution_id, signals, waitpoints: other_than_name(step, keys), note: None }
    }

    /// Converts the end of a wait to the outcome of its step. An unexpected timeout is a failure: a replay waits again.
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
    /// Creates the log from a claim. A note that the handler's waits did not write does not parse, and is ignored.
    pub(in crate::worker) fn of(task: &Task, signals: Vec<ReceivedSignal>) -> Self {
        let last = task.resumption.as_ref().and_then(|past| {
            let note = serde_json::from_str(past.continuation.as_deref()?).ok()?;
            Some(waits_of(note, task.execution_id, past))
        });
        let signals = signals.into_iter().map(|received| (received.signal.id, received)).collect();
        Self { entries: Mutex::default(), last: last.unwrap_or_default(), signals, recording: Mutex::default() }
    }

    /// Returns the next wait of a name in this run. The first has no key; the keys of the others count from 1.
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

    /// Returns the end of a wait, if it has ended. Starts to record the wait that ended with the last suspension.
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
        // This is the last step that may be recorded. Record it now, so that the next step is refused before it runs.
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

    /// Waits until no wait is being recorded. Returns the error of the recording to every caller.
    pub(in crate::worker) async fn recorded(&self) -> Result<(), Fault> {
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(recording) = recording { recording.await } else { Ok(()) }
    }

    /// Returns the waits that ended with the last suspension and are not recorded.
    fn unrecorded<'l>(&'l self, context: &'l Context) -> impl Iterator<Item = (&'l StepRef, &'l WaitEnd)> {
        self.last.iter().filter_map(|(step, last)| match last {
            LastSuspension::Wait(end) if context.steps().find(step).is_none() => Some((step, end)),
            _ => None,
        })
    }

    /// Records the end of a wait, and returns the recorded end.
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

    /// Returns how often a call has checked for the end of its callee.
    pub(in crate::worker) fn looks(&self, step: &StepRef) -> u32 {
        match self.last.first() {
            Some((last, LastSuspension::Call { looks })) if last == step => *looks,
            _ => 0,
        }
    }

    /// Returns true when the next wait on a waitpoint is already over.
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

    /// Adds a waitpoint that was created in advance.
    pub(super) fn made_ahead(&self, granted: &GrantedWaitpoint) {
        self.entries().ahead.insert(granted.waitpoint_key.clone(), granted.clone());
    }

    /// Takes the waitpoint that was created in advance under a key, for the wait that uses it.
    pub(super) fn take_ahead(&self, key: &WaitpointKey) -> Option<GrantedWaitpoint> {
        self.entries().ahead.remove(key)
    }

    /// Returns a signal that came with the claim, if its payload came too.
    pub(super) fn signal(&self, id: &SignalId) -> Option<ReceivedSignal> {
        let whole = |received: &&ReceivedSignal| received.payload.is_some() || received.signal.payload_bytes == 0;
        self.signals.get(id).filter(whole).cloned()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the waits that a note names, with their ends.
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

/// Returns the step of a wait, from its name and the number of earlier waits of that name. The first has no key.
fn nth_wait(name: &StepName, nth: u32) -> Option<StepRef> {
    let key = if nth == 0 { StepKey::default() } else { StepKey::parse(&nth.to_string()).ok()? };
    Some(StepRef { kind: StepKind::Wait, name: name.clone(), key })
}

/// Reads the recorded end of a wait. A wait that failed is a wait that timed out.
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
    fn a_continuation_of_an_older_version_lists_all_its_waits() {
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
