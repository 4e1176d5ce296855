//! Suspensions in transitions. A waitpoint is the number of its key, and a token is described by its origin.

use crate::prelude::*;

/// A suspension that a holder requests.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspensionRequest {
    pub on: Vec<WaitpointChoice>,
    pub tree: Tree,
    pub timeout: Option<Timeout>,
    pub behavior: TimeoutBehavior,
    pub delay_ms: u64,
    pub selection: SignalSelection,
    pub key: Option<u8>,
}

/// One waitpoint of a suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitpointChoice {
    New(u8),
    /// The last waitpoint granted under this key.
    Ahead(u8),
    /// The last waitpoint granted under this key, named by another key.
    Misnamed(u8),
    /// A waitpoint that was never created.
    Unknown(u8),
}

/// The conditions that the generator chooses from, each over all waitpoints of the suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    AnyOf,
    AllOf,
    /// A signal of the first name on every waitpoint.
    Sample,
    Waitpoints(u32),
    Signals(u32),
    Sources(u32),
    /// Three levels, with the same waitpoints in several leaves.
    Deep,
    Operator,
    Timeout,
    /// A condition that must be refused.
    TooDeep,
}

/// A reference to a waitpoint of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitpointSelector {
    /// The last waitpoint granted under this key.
    Last(u8),
    /// The waitpoint granted before the last one under this key.
    Before(u8),
    /// A waitpoint that was never created.
    Unknown,
}

/// A signal to deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct OutgoingSignal {
    pub job: u32,
    pub to: WaitpointSelector,
    pub by_key: bool,
    pub token: ShownToken,
    pub name: u8,
    /// The user that sends the signal, or `None` for an unnamed source.
    pub user: Option<u8>,
    pub payload: Option<usize>,
    pub key: Option<u8>,
}

/// The token that a sender presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownToken {
    /// The token of the waitpoint.
    Own,
    /// The token of the waitpoint that was granted last, of any execution.
    Newest,
    /// The token of the waitpoint with one bit flipped.
    Flipped,
    /// A token signed under the current secret, even if the waitpoint's token was signed under another.
    Signed,
    /// The token of the waitpoint under a kid that no ring has.
    UnknownKid,
    /// The first half of the token of the waitpoint.
    Half,
    Missing,
}
