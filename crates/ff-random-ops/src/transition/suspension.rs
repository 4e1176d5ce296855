//! Suspensions in transitions: a waitpoint is the number of its key, and a token is said by whose it is.

use ff_core::contracts::Timeout;
use ff_core::suspension::{SignalSelection, TimeoutBehavior};

/// A suspension that a holder requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub on: Vec<On>,
    pub tree: Tree,
    pub timeout: Option<Timeout>,
    pub behavior: TimeoutBehavior,
    pub delay_ms: u64,
    pub handed: SignalSelection,
    pub key: Option<u8>,
}

/// One waitpoint of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    New(u8),
    /// The last one that was granted under this key.
    Ahead(u8),
    /// The last one of a key, by another key.
    Misnamed(u8),
    /// One that was never made.
    Unknown(u8),
}

/// The conditions the generator chooses from, each over all waitpoints of its wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    AnyOf,
    AllOf,
    /// Everywhere a signal of the first name.
    Sample,
    Waitpoints(u32),
    Signals(u32),
    Sources(u32),
    /// Three levels, the same waitpoints in several leaves.
    Deep,
    Operator,
    Timeout,
    /// One that must be refused.
    TooDeep,
}

/// Which waitpoint of a job is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The last one that was granted under this key.
    Last(u8),
    /// The one before.
    Before(u8),
    /// One that was never made.
    Unknown,
}

/// A signal on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct OutgoingSignal {
    pub job: u32,
    pub to: Which,
    pub by_key: bool,
    pub token: ShownToken,
    pub name: u8,
    /// An unnamed source, or one of some users.
    pub user: Option<u8>,
    pub payload: Option<usize>,
    pub key: Option<u8>,
}

/// The token that a sender shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownToken {
    /// The waitpoint's own.
    Own,
    /// That of the waitpoint granted last anywhere.
    Newest,
    /// Its own with one bit turned over.
    Flipped,
    /// One that is signed under the current secret, even when its own was signed under another.
    Signed,
    /// Its own under a kid that no ring has.
    UnknownKid,
    /// Half of its own.
    Half,
    Missing,
}
