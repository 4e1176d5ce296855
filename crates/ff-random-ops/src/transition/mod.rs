//! One random operation as a value, in words that stay meaningful when other transitions are left out of a script.

mod flow;
mod operator;
mod quota;
mod step;
mod stream;
mod suspension;

use ff_core::contracts::Start;
use ff_core::flow::CancelPolicy;
use ff_core::singleton::OnConflict;
use ff_core::suspension::OperatorDecision;

pub use flow::{Growth, Link, Node, Pass, Plan};
pub use operator::Order;
pub(crate) use quota::QUOTA_NAMESPACE;
pub(crate) use quota::QuotaOrder;
pub use step::{Point, RecordedStep};
pub use stream::FrameBatch;
pub use suspension::{On, OutgoingSignal, ShownToken, Tree, Which, Wish};

/// An operation by its name, or something that happens to both sides. Jobs, names and workers are numbers; a fence is
/// said by whose it is. Its `Debug` form is a line of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    Submit(Submission),
    SubmitMany(Vec<Submission>),
    Claim {
        partition: u16,
        namespace: u8,
        lane: u8,
        kinds: Vec<u8>,
        /// Only executions assigned to the worker.
        assigned: bool,
        max: usize,
        worker: u8,
        ttl_ms: u64,
    },
    Renew {
        job: u32,
        fence: Whose,
        ttl_ms: Option<u64>,
    },
    Progress {
        job: u32,
        fence: Whose,
        percent: Option<u8>,
        message: Option<usize>,
    },
    Append {
        job: u32,
        fence: Whose,
        batch: FrameBatch,
    },
    RecordStep {
        job: u32,
        fence: Whose,
        step: RecordedStep,
    },
    /// A new job from another one.
    Fork {
        job: u32,
        fork: u32,
        before: Option<Point>,
    },
    Complete {
        job: u32,
        fence: Whose,
        result: Option<usize>,
    },
    Fail {
        job: u32,
        fence: Whose,
        category: u8,
        permanent: bool,
    },
    Delay {
        job: u32,
        fence: Whose,
        start: Start,
    },
    Cancel {
        job: u32,
        reason: Option<usize>,
    },
    Replay {
        job: u32,
        reason: Option<usize>,
        /// Whether its dependents run again as well.
        reopen: bool,
        /// The step from which on it is done again.
        from: Option<Point>,
    },
    Revoke {
        job: u32,
        lease: Option<Whose>,
    },
    Suspend {
        job: u32,
        fence: Whose,
        wish: Wish,
    },
    CreateWaitpoint {
        job: u32,
        fence: Whose,
        key: u8,
        ms: u64,
    },
    CloseWaitpoint {
        job: u32,
        waitpoint: Which,
    },
    Deliver(OutgoingSignal),
    Resume {
        job: u32,
        decision: OperatorDecision,
        /// Only the suspension so many before the last.
        named: Option<u8>,
        payload: Option<usize>,
        delay_ms: Option<u64>,
    },
    /// On every partition.
    Rotate {
        kid: u8,
        secret: u8,
        grace_ms: u64,
    },
    SubmitFlow(Plan),
    /// A graph too large for one part, made of so many jobs from the first on: all of it, or one of its parts.
    SubmitLargeFlow {
        flow: u32,
        first: u32,
        jobs: u32,
        part: Option<usize>,
    },
    CreateFlow {
        flow: u32,
        namespace: u8,
        kind: u8,
    },
    Grow(Growth),
    CloseFlow {
        flow: u32,
    },
    CancelFlow {
        flow: u32,
        policy: CancelPolicy,
        reason: Option<usize>,
    },
    TagFlow {
        flow: u32,
        from: usize,
        count: usize,
    },
    WaitForChildren {
        job: u32,
        fence: Whose,
    },
    Cascade {
        job: u32,
    },
    /// A request of an operator, a worker process, a reader of events, or between the partitions of a lane.
    Operate(Order),
    Quota(QuotaOrder),
    Pump {
        partition: u16,
    },
    Advance {
        ms: u64,
    },
    /// The clock goes to so many milliseconds after one of the next moments at which something is due or forgotten.
    AdvanceTo {
        nth: usize,
        offset_ms: i64,
    },
    /// The store is closed and opened again.
    Reopen,
}

/// One submission. The job number is its uuid, so that the same number again is the same submission again.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub job: u32,
    pub namespace: u8,
    pub lane: u8,
    pub kind: u8,
    /// How many bytes; jobs differ in them as well.
    pub payload: usize,
    pub priority: i64,
    pub tags: usize,
    pub key: Option<u8>,
    pub rule: Option<Rule>,
    pub start: Start,
    pub policy: Policies,
}

/// A key that work is submitted under besides an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Singleton { key: u8, on_conflict: OnConflict },
    Debounce { key: u8, delay_ms: u64 },
}

/// The policies the generator chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policies {
    Default,
    /// Two retries at once, attempts of six seconds, one reclaim, one replay, three steps, a key remembered for a minute.
    Tight,
    /// No retries, no reclaims, no replays.
    None,
    /// Attempts of four seconds, a life of forty, no retries.
    Timed,
    /// A backoff with jitter that grows, for some categories only, timeouts among them.
    Choosy,
    /// A life of eight seconds, kept for five after its end, and a key remembered for two.
    Brief,
    /// One retry, for workers with one capability only.
    Routed,
    /// The same, for workers with two.
    RoutedFar,
    /// One that must be refused.
    Invalid,
}

/// Whose fence a caller shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The last one that was given out for the execution.
    Latest,
    /// The one before.
    Earlier,
    /// The last one with another lease id.
    OtherLease,
    /// The last one with a later epoch.
    OtherEpoch,
    /// The last one with another attempt id.
    OtherAttempt,
}
