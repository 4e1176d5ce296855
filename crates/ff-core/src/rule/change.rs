//! A rule's decision about one execution: its new record and the writes that go with the record.

use crate::budget::UsageReportEntry;
use crate::event::Event;
use crate::execution::{Attempt, Execution};
use crate::lease::LeaseEvent;
use crate::payload::Payload;
use crate::signal::{RecordedSignal, SignalKeyEntry};
use crate::step::StepsWrite;
use crate::stream::StreamWrite;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::types::{ExecutionId, IdempotencyKey, Namespace, TimestampMs};

/// The effect of a rule on one execution, as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub after: Execution,
    /// Attempts that ended, to be archived.
    pub attempts: Vec<Attempt>,
    /// Lease events to add to the lease history.
    pub leases: Vec<LeaseEvent>,
    pub payload: Write<Payload>,
    pub result: Write<Payload>,
    /// The idempotency key to remember.
    pub key: Option<KeyEntry>,
    /// Waitpoints to write.
    pub waitpoints: Vec<Waitpoint>,
    /// Signals received. Each is recorded and added to the partition's feed.
    pub signals: Vec<RecordedSignal>,
    /// The idempotency key of a signal to remember.
    pub signal_key: Option<SignalKeyEntry>,
    /// The idempotency key of a suspension to remember.
    pub suspend_key: Option<SuspendKeyEntry>,
    /// The write to the stream of the attempt.
    pub stream: Option<Box<StreamWrite>>,
    /// The write to the recorded steps of the execution.
    pub steps: Option<Box<StepsWrite>>,
    /// A usage report to remember.
    pub usage_report: Option<UsageReportEntry>,
    pub events: Vec<Event>,
}

/// A write to a payload or a result. Both are stored separately from the record.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Write<T> {
    #[default]
    Keep,
    Put(T),
    /// Copies the result of another execution, as of the changes that precede this one.
    ResultOf(ExecutionId),
    Remove,
}

/// The idempotency key of a submission, and the time until which the key is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    pub namespace: Namespace,
    pub key: IdempotencyKey,
    pub execution_id: ExecutionId,
    pub until: TimestampMs,
}

impl Change {
    /// Returns a change that writes `after` and nothing else.
    pub fn of(after: Execution) -> Self {
        Self {
            after,
            attempts: Vec::new(),
            leases: Vec::new(),
            payload: Write::Keep,
            result: Write::Keep,
            key: None,
            waitpoints: Vec::new(),
            signals: Vec::new(),
            signal_key: None,
            suspend_key: None,
            stream: None,
            steps: None,
            usage_report: None,
            events: Vec::new(),
        }
    }

    /// Returns one change that has the effect of this change followed by `later`.
    pub(crate) fn then(mut self, later: Change) -> Self {
        fn newer<T>(before: Write<T>, after: Write<T>) -> Write<T> {
            if matches!(after, Write::Keep) { before } else { after }
        }
        self.after = later.after;
        self.attempts.extend(later.attempts);
        self.leases.extend(later.leases);
        self.payload = newer(self.payload, later.payload);
        self.result = newer(self.result, later.result);
        self.key = later.key.or(self.key);
        self.waitpoints.extend(later.waitpoints);
        self.signals.extend(later.signals);
        self.signal_key = later.signal_key.or(self.signal_key);
        self.suspend_key = later.suspend_key.or(self.suspend_key);
        self.stream = later.stream.or(self.stream);
        self.steps = later.steps.or(self.steps);
        self.usage_report = later.usage_report.or(self.usage_report);
        self.events.extend(later.events);
        self
    }
}
