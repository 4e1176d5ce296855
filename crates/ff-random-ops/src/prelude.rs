//! Imports of the records, operations and replies that runs are about.

pub(crate) use ff_core::api_key::ApiKey;
pub(crate) use ff_core::backend::clock::{Clock, ManualClock};
pub(crate) use ff_core::backend::entropy::{Entropy, Nonce, SeededEntropy};
pub(crate) use ff_core::backend::hint::Hint;
pub(crate) use ff_core::backend::snapshot::Snapshot;
pub(crate) use ff_core::backend::{Answer, EngineBackend, EngineStore, PartitionStatus, Perform, ReadyLane};
pub(crate) use ff_core::budget::{
    Amounts, BudgetDefinition, BudgetLimit, OnHardLimit, Reset, UsageReportEntry, budget_id,
};
pub(crate) use ff_core::contracts::*;
pub(crate) use ff_core::engine_error::{Code, EngineError, Refusal};
pub(crate) use ff_core::event::{EventCursor, EventKind, Feed};
pub(crate) use ff_core::execution::{
    Attempt, AttemptOutcome, AttemptSlot, BlockDetail, Blocker, Execution, Failure, FinishedBy, Origin, Outcome, Phase,
    Tags,
};
pub(crate) use ff_core::fairness::{Turn, TurnName, TurnQueue, TurnsQuery};
pub(crate) use ff_core::flow::{
    CancelPolicy, Edge, EdgeState, Flow, FlowEventKind, FlowKeyEntry, FlowState, Group, GroupState, Join, OnSatisfied,
    PassMode, member_id,
};
pub(crate) use ff_core::lane::{Lane, LaneState, is_unknown_class};
pub(crate) use ff_core::lease::{Fence, Holder, Lease, LeaseEnding};
pub(crate) use ff_core::model::Model;
pub(crate) use ff_core::operation::{Ask, Conditions, Decision, Operation, Reply, check_id};
pub(crate) use ff_core::partition::{PartitionConfig, lane_partition, namespace_partition};
pub(crate) use ff_core::payload::Payload;
pub(crate) use ff_core::policy::{Backoff, Policy, RetryPolicy, RoutingRequirements, TimeoutPolicy};
pub(crate) use ff_core::quota::{Per, QuotaPolicy, QuotaRow, QuotaRowName, QuotaSet, Rate, Scope, quota_policy_id};
pub(crate) use ff_core::rule::change::{Change, KeyEntry, Write};
pub(crate) use ff_core::rule::due::{Due, PumpedPartition};
pub(crate) use ff_core::rule::view::{DueQuery, EdgesOf, EligibleQuery, MembersOf, Miss, Side, Stop, View};
pub(crate) use ff_core::schedule::{Schedule, ScheduleRef};
pub(crate) use ff_core::signal::{Effect, FeedCursor, SignalKeyEntry, Source};
pub(crate) use ff_core::singleton::{Debounce, KeyConflict, KeyQueue, KeyRule, OnConflict, Singleton};
pub(crate) use ff_core::state::PublicState;
pub(crate) use ff_core::step::{StepHead, StepKind, StepOutcome, StepRef};
pub(crate) use ff_core::stream::{Frame, StreamMode, StreamRecord};
pub(crate) use ff_core::suspension::{
    Condition, Distinct, OperatorDecision, ResumePolicy, ResumedBy, SignalSelection, SuspendKeyEntry, SuspendReason,
    SuspendedBy, SuspensionEnd, TimeoutBehavior, Waitpoint, WaitpointState,
};
pub(crate) use ff_core::token::{KeyRing, Mac, PresentedToken, Secret, WaitpointToken};
pub(crate) use ff_core::trace::TraceContext;
pub(crate) use ff_core::types::*;
pub(crate) use ff_core::{doctor, limits};
