//! What a handler has waited for: in earlier runs, and so far in this one.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::contracts::{GrantedWaitpoint, ReceivedSignal, Resumption};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::suspension::ResumedBy;
use ff_core::types::{SignalId, WaitpointKey};
use serde::{Deserialize, Serialize};

use super::WaitError;

/// The waits of one run of a handler. The store remembers the last suspension and the note that was left with it; the note
/// tells of the waits before.
pub(in crate::worker) struct Journal {
    entries: Mutex<Entries>,
    /// The signals that came with the claim.
    handed: HashMap<SignalId, ReceivedSignal>,
}

#[derive(Default)]
struct Entries {
    over: Vec<FinishedWait>,
    /// How often each name was waited for in this run.
    asked: HashMap<WaitpointKey, u32>,
    /// How often each waitpoint was waited on in this run.
    used: HashMap<WaitpointKey, u32>,
    /// Made ahead in this run, and not waited on yet.
    ahead: HashMap<WaitpointKey, GrantedWaitpoint>,
    /// The waits for children of this run.
    children: HashSet<String>,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CompactWait", into = "CompactWait")]
pub(super) struct WaitKey {
    name: WaitpointKey,
    /// The how manieth of that name it is in a run.
    nth: u32,
    /// What it waits on, when that is not just its name.
    keys: Vec<WaitpointKey>,
}

/// A wait that is over, and what ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CompactFinishedWait", into = "CompactFinishedWait")]
pub(super) struct FinishedWait {
    asked: WaitKey,
    pub(super) by: ResumedBy,
    pub(super) signals: Vec<SignalId>,
}

type CompactWait = (WaitpointKey, u32, Vec<WaitpointKey>);
type CompactFinishedWait = (WaitKey, ResumedBy, Vec<SignalId>);

impl From<CompactWait> for WaitKey {
    fn from((name, nth, keys): CompactWait) -> Self {
        Self { name, nth, keys }
    }
}

impl From<WaitKey> for CompactWait {
    fn from(WaitKey { name, nth, keys }: WaitKey) -> Self {
        (name, nth, keys)
    }
}

impl From<CompactFinishedWait> for FinishedWait {
    fn from((asked, by, signals): CompactFinishedWait) -> Self {
        Self { asked, by, signals }
    }
}

impl From<FinishedWait> for CompactFinishedWait {
    fn from(FinishedWait { asked, by, signals }: FinishedWait) -> Self {
        (asked, by, signals)
    }
}

/// What is left with a suspension for the next run, as short as it can be: there is room for some hundred waits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    wait: WaitKey,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    over: Vec<FinishedWait>,
}

impl WaitKey {
    fn uses(&self, key: &WaitpointKey) -> bool {
        if self.keys.is_empty() { self.name == *key } else { self.keys.contains(key) }
    }
}

impl Journal {
    /// What the claim tells of earlier runs. A suspension that was not a wait of this kind leaves no note that reads as one.
    pub(in crate::worker) fn of(resumption: Option<&Resumption>, signals: Vec<ReceivedSignal>) -> Self {
        let note = resumption.and_then(|past| Some((past, past.continuation.as_deref()?)));
        let note = note.and_then(|(past, text)| Some((past, serde_json::from_str::<Note>(text).ok()?)));
        let over = note.map(|(past, Note { wait, mut over })| {
            over.push(FinishedWait { asked: wait, by: past.by, signals: past.signals.clone() });
            over
        });
        let entries = Entries { over: over.unwrap_or_default(), ..Entries::default() };
        let handed = signals.into_iter().map(|received| (received.signal.id, received)).collect();
        Self { entries: Mutex::new(entries), handed }
    }

    /// Notes that a wait is asked for, and tells what ended it if it is over.
    pub(super) fn ask(&self, name: &WaitpointKey, keys: &[WaitpointKey]) -> (WaitKey, Option<FinishedWait>) {
        let mut entries = self.entries();
        let nth = entries.asked.entry(name.clone()).or_default();
        let keys_told = if keys == [name.clone()] { Vec::new() } else { keys.to_vec() };
        let asked = WaitKey { name: name.clone(), nth: *nth, keys: keys_told };
        *nth += 1;
        for key in keys {
            *entries.used.entry(key.clone()).or_default() += 1;
        }
        let over =
            entries.over.iter().find(|over| over.asked.name == asked.name && over.asked.nth == asked.nth).cloned();
        (asked, over)
    }

    /// Notes that a wait is over in this very run.
    pub(super) fn ended(&self, asked: WaitKey, signals: Vec<SignalId>) -> FinishedWait {
        let over = FinishedWait { asked, by: ResumedBy::Signals, signals };
        self.entries().over.push(over.clone());
        over
    }

    /// What is left for the next run while a wait goes on.
    pub(super) fn note(&self, asked: &WaitKey) -> Result<String, WaitError> {
        let note = Note { wait: asked.clone(), over: self.entries().over.clone() };
        let text = serde_json::to_string(&note).map_err(|error| WaitError::Engine(crate::Error::Encode(error)))?;
        if text.len() > limits::MESSAGE_BYTES { Err(WaitError::TooManyWaits) } else { Ok(text) }
    }

    /// Whether the next wait on a waitpoint is over already.
    pub(super) fn is_over(&self, key: &WaitpointKey) -> bool {
        let entries = self.entries();
        let past = entries.over.iter().filter(|over| over.asked.uses(key)).count();
        past > entries.used.get(key).map_or(0, |used| *used as usize)
    }

    /// Notes that a waitpoint was made ahead.
    pub(super) fn made_ahead(&self, granted: &GrantedWaitpoint) {
        self.entries().ahead.insert(granted.waitpoint_key.clone(), granted.clone());
    }

    /// The waitpoint that was made ahead under a key, for the wait that uses it up.
    pub(super) fn take_ahead(&self, key: &WaitpointKey) -> Option<GrantedWaitpoint> {
        self.entries().ahead.remove(key)
    }

    /// Notes a wait for children. Another of the same name in one run could not be told from it.
    pub(in crate::worker) fn first_children(&self, wait: &str) -> Result<(), Refusal> {
        if self.entries().children.insert(wait.to_owned()) {
            return Ok(());
        }
        Err(Refusal::invalid(
            "children",
            format!("there are children of the wait {wait:?} already; call these otherwise"),
        ))
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

#[cfg(test)]
mod tests {
    use ff_core::types::{SuspensionId, TimestampMs};

    use super::*;

    fn key(text: &str) -> WaitpointKey {
        WaitpointKey::parse(text).unwrap()
    }

    /// The next run after a suspension that left this note.
    fn next(note: String, signals: &[SignalId]) -> Journal {
        let resumption = Resumption {
            suspension_id: SuspensionId::new(),
            by: ResumedBy::Signals,
            at: TimestampMs(0),
            continuation: Some(note),
            signals: signals.to_vec(),
            with_payload: 0,
        };
        Journal::of(Some(&resumption), vec![])
    }

    fn ask(journal: &Journal, name: &str) -> (WaitKey, Option<FinishedWait>) {
        journal.ask(&key(name), &[key(name)])
    }

    #[test]
    fn waits_are_found_again_by_name_whatever_their_order() {
        let (first, second) = (SignalId::new(), SignalId::new());
        let run = Journal::of(None, vec![]);
        let (a, over) = ask(&run, "a");
        assert_eq!(over, None);
        let run = next(run.note(&a).unwrap(), &[first]);
        let (b, over) = ask(&run, "b");
        assert_eq!(over, None, "another name is another wait");
        let run = next(run.note(&b).unwrap(), &[second]);
        assert_eq!(ask(&run, "b").1.unwrap().signals, [second]);
        assert_eq!(ask(&run, "a").1.unwrap().signals, [first]);
        assert_eq!(ask(&run, "a").1, None, "it was waited for once");
    }

    #[test]
    fn the_same_name_again_is_the_next_wait_of_that_name() {
        let (first, second) = (SignalId::new(), SignalId::new());
        let run = Journal::of(None, vec![]);
        let (once, _) = ask(&run, "tick");
        let run = next(run.note(&once).unwrap(), &[first]);
        assert_eq!(ask(&run, "tick").1.unwrap().signals, [first]);
        let (twice, over) = ask(&run, "tick");
        assert_eq!(over, None);
        let run = next(run.note(&twice).unwrap(), &[second]);
        assert_eq!(ask(&run, "tick").1.unwrap().signals, [first]);
        assert_eq!(ask(&run, "tick").1.unwrap().signals, [second]);
    }

    #[test]
    fn a_waitpoint_is_made_ahead_once_for_each_wait_on_it() {
        let run = Journal::of(None, vec![]);
        assert!(!run.is_over(&key("ada")));
        let (asked, _) = run.ask(&key("sign-off"), &[key("ada"), key("bob")]);
        let run = next(run.note(&asked).unwrap(), &[]);
        assert!(run.is_over(&key("ada")) && run.is_over(&key("bob")) && !run.is_over(&key("sign-off")));
        run.ask(&key("sign-off"), &[key("ada"), key("bob")]);
        assert!(!run.is_over(&key("ada")), "the next wait on it is another one");
    }

    #[test]
    fn somebody_elses_note_is_no_wait_of_ours() {
        for note in ["page 7", "{}", "[1]", r#"{"wait":["a",0,[]],"more":1}"#] {
            let run = next(note.to_owned(), &[SignalId::new()]);
            assert_eq!(ask(&run, "a").1, None, "{note}");
        }
    }

    #[test]
    fn a_hundred_waits_are_remembered_and_too_many_are_an_error() {
        let mut run = Journal::of(None, vec![]);
        let mut waits = 0;
        let error = loop {
            for _ in 0..waits {
                assert!(ask(&run, "approved").1.is_some());
            }
            let (asked, _) = ask(&run, "approved");
            match run.note(&asked) {
                Ok(note) => run = next(note, &[SignalId::new()]),
                Err(error) => break error,
            }
            waits += 1;
        };
        assert!(matches!(error, WaitError::TooManyWaits) && waits >= 100, "{waits}");
    }
}
