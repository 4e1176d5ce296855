//! The calls of a store and their values.

pub(crate) use ff_core::api_key::{KeyHash, Role, SecretKey};
pub(crate) use ff_core::backend::clock::Clock;
pub(crate) use ff_core::backend::snapshot::Snapshot;
pub(crate) use ff_core::backend::{Answer, EngineBackend, EngineStore, LongPoll};
pub(crate) use ff_core::contracts::*;
pub(crate) use ff_core::engine_error::{Code, EngineError};
pub(crate) use ff_core::event::{EncryptedPositions, EventCursor, EventKind};
pub(crate) use ff_core::execution::{
    AttemptOutcome, BlockDetail, Blocker, Failure, FinishedBy, Origin, Outcome, Progress, Tags,
};
pub(crate) use ff_core::flow::{
    CancelPolicy, EdgeState, FlowEvent, FlowEventKind, FlowState, GroupState, Join, OnSatisfied, PassMode, edge_id,
    member_id,
};
pub(crate) use ff_core::lane::{LaneSettings, LaneState};
pub(crate) use ff_core::lease::{Fence, Holder, LeaseEnding};
pub(crate) use ff_core::limits;
pub(crate) use ff_core::partition::flow_partition;
pub(crate) use ff_core::payload::Payload;
pub(crate) use ff_core::policy::{Backoff, Policy, RetryPolicy, RoutingRequirements, TimeoutPolicy};
pub(crate) use ff_core::signal::{Delivery, Effect, FeedCursor, Position, Signal, Source};
pub(crate) use ff_core::singleton::{Debounce, KeyConflict, KeyRule, OnConflict, Singleton};
pub(crate) use ff_core::state::{
    AttemptState, BlockingReason, EligibilityState, LifecyclePhase, OwnershipState, PublicState, StateVector,
    TerminalOutcome,
};
pub(crate) use ff_core::step::{Step, StepKind, StepOutcome, StepRef};
pub(crate) use ff_core::stream::{Frame, StreamCursor, StreamMode};
pub(crate) use ff_core::suspension::{
    BoundWaitpoint, Condition, Distinct, OperatorDecision, ResumePolicy, ResumedBy, SignalSelection, SuspendReason,
    SuspendedBy, TimeoutBehavior, WaitpointState,
};
pub(crate) use ff_core::token::{Mac, PresentedToken, Secret, StreamToken, WaitpointToken};
pub(crate) use ff_core::trace::TraceContext;
pub(crate) use ff_core::types::*;
pub(crate) use uuid::Uuid;
