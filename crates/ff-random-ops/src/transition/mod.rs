//! One random operation as a value that stays meaningful when other transitions are removed from a script.

mod flow;
mod holder;
mod operator;
mod quota;
mod step;
mod stream;
mod suspension;

use crate::prelude::*;

pub use flow::{Growth, Link, Node, Pass, Plan};
pub use holder::HolderCall;
pub use operator::OperatorRequest;
pub(crate) use quota::QUOTA_NAMESPACE;
pub(crate) use quota::QuotaOrder;
pub use step::{Point, RecordedStep};
pub use stream::FrameBatch;
pub use suspension::{OutgoingSignal, ShownToken, SuspensionRequest, Tree, WaitpointChoice, WaitpointSelector};

/// An operation, or an event that affects both sides, such as an advance of the clock. Jobs, names and workers are
/// numbers. A fence is described by its owner. The `Debug` form is a line of a script.
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
    /// A call of the holder of a lease, or of a caller that presents another fence.
    AsHolder {
        job: u32,
        fence: FenceChoice,
        call: HolderCall,
    },
    /// Creates a new job from another job.
    Fork {
        job: u32,
        fork: u32,
        before: Option<Point>,
    },
    Cancel {
        job: u32,
        reason: Option<usize>,
    },
    Replay {
        job: u32,
        reason: Option<usize>,
        /// Whether the dependents of the job run again as well.
        reopen: bool,
        /// The step from which on the job runs again.
        from: Option<Point>,
    },
    Revoke {
        job: u32,
        lease: Option<FenceChoice>,
    },
    CloseWaitpoint {
        job: u32,
        waitpoint: WaitpointSelector,
    },
    Deliver(OutgoingSignal),
    Resume {
        job: u32,
        decision: OperatorDecision,
        /// The number of the named suspension, counted back from the last one.
        named: Option<u8>,
        payload: Option<usize>,
        delay_ms: Option<u64>,
    },
    /// Rotates the secret on every partition.
    Rotate {
        kid: u8,
        secret: u8,
        grace_ms: u64,
    },
    SubmitFlow(Plan),
    /// Submits a graph that is too large for one part: all of it, or one of its parts. Its jobs are numbered from
    /// `first` on.
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
    Cascade {
        job: u32,
    },
    /// A request of an operator, a worker process or a reader of events, or a message between the partitions of a lane.
    Operate(OperatorRequest),
    Quota(QuotaOrder),
    Pump {
        partition: u16,
    },
    Advance {
        ms: u64,
    },
    /// Advances the clock to `offset_ms` after one of the next times at which a timer is due or a key is forgotten.
    AdvanceTo {
        nth: usize,
        offset_ms: i64,
    },
    /// Closes and reopens the store.
    Reopen,
}

/// One submission. The uuid follows from the job number, so a repeated number is a repeated submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub job: u32,
    pub namespace: u8,
    pub lane: u8,
    pub kind: u8,
    /// Number of bytes of the payload.
    pub payload: usize,
    pub priority: i64,
    pub tags: usize,
    pub key: Option<u8>,
    pub rule: Option<Rule>,
    pub start: Start,
    pub policy: Policies,
}

/// A singleton or debounce key of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Singleton { key: u8, on_conflict: OnConflict },
    Debounce { key: u8, delay_ms: u64 },
}

/// The policies that the generator chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policies {
    Default,
    /// Two immediate retries, attempts of six seconds, one reclaim, one replay, three steps, a key remembered for a
    /// minute.
    Tight,
    /// No retries, no reclaims, no replays.
    None,
    /// Attempts of four seconds, a deadline of forty seconds, no retries.
    Timed,
    /// Exponential backoff with jitter, for some failure categories only, including timeouts.
    Choosy,
    /// A deadline of eight seconds, a retention of five seconds, and a key remembered for two seconds.
    Brief,
    /// One retry. Requires one capability.
    Routed,
    /// One retry. Requires two capabilities.
    RoutedFar,
    /// A policy that must be refused.
    Invalid,
}

/// The fence that a caller presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceChoice {
    /// The last fence given out for the execution.
    Latest,
    /// The fence before the last one.
    Earlier,
    /// The last fence with another lease id.
    OtherLease,
    /// The last fence with a later epoch.
    OtherEpoch,
    /// The last fence with another attempt id.
    OtherAttempt,
}
