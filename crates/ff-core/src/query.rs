//! Every question a store answers, as a value. Questions with several arguments are in the contracts of their domain; the others are
//! here.

use crate::api_key::ApiKey;
use crate::api_key::contracts::{KeysPage, ListKeysArgs};
use crate::backend::{BoxedAnswer, Handle, PartitionStatus};
use crate::budget::contracts::{BudgetLedgerSums, PendingUsage, ReadBudgetLedger, UsageBacklogArgs, UsageInfo};
use crate::contracts::{QueueArgs, QueueFacts};
use crate::engine_error::Refusal;
use crate::event::contracts::{EventsArgs, EventsPage};
use crate::execution::contracts::{Attempts, ExecutionEnd, ExecutionInfo, ListArgs, Page};
use crate::flow::contracts::{
    EdgesPage, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage,
    ListFlowsArgs, MembersPage,
};
use crate::lane::contracts::{LaneInfo, LanesPage, ListLanesArgs, ListQueueArgs, QueuedExecution};
use crate::partition::{PartitionConfig, check_id, check_partition};
use crate::payload::Payload;
use crate::quota::QuotaSet;
use crate::quota::contracts::{QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use crate::schedule::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::contracts::{DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage};
use crate::snapshot::Snapshot;
use crate::step::contracts::{ListStepsArgs, StepsPage};
use crate::stream::contracts::{ReadStreamArgs, StreamPage};
use crate::suspension::contracts::WaitpointInfo;
use crate::token::contracts::PartitionKids;
use crate::token::{KeyRing, PresentedToken, WaitpointToken};
use crate::types::{
    ExecutionId, FlowId, KeyId, LaneId, Namespace, SignalId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use crate::worker::contracts::{ListWorkersArgs, WorkersPage};

/// Every query, as `call(arguments) -> Answer = Variant(Question): the question made from the arguments`: those any caller may ask,
/// and those only an engine asks.
macro_rules! queries {
    ($callback:ident) => {
        $callback! {
            callers {
                describe(id: &ExecutionId) -> ExecutionInfo = Describe(Describe): Describe { execution_id: *id };
                /// Finds executions, newest first. A page looks at a bounded number of them, so it may have few rows, or none,
                /// and yet not be the last.
                list(args: ListArgs) -> Page = List(ListArgs): args;
                /// The bytes that were submitted.
                payload(id: &ExecutionId) -> Payload = Payload(ReadPayload): ReadPayload { execution_id: *id };
                /// How it ended; refused as `execution_not_terminal` while it has not.
                result(id: &ExecutionId) -> ExecutionEnd = Result(ReadResult): ReadResult { execution_id: *id };
                attempts(id: &ExecutionId) -> Attempts = Attempts(ReadAttempts): ReadAttempts { execution_id: *id };
                /// The output of an attempt, or of all attempts, from a cursor on. Answers at once, perhaps with none.
                read_stream(args: ReadStreamArgs) -> StreamPage = ReadStream(ReadStreamArgs): args;
                /// The recorded steps of an execution with their results, in the order of recording. A page ends before it passes
                /// a mebibyte, but has one step at least.
                list_steps(args: ListStepsArgs) -> StepsPage = ListSteps(ListStepsArgs): args;
                /// How a lane is configured, and how many executions it has in each state.
                describe_lane(namespace: &Namespace, lane: &LaneId) -> LaneInfo = DescribeLane(DescribeLane):
                    DescribeLane { namespace: namespace.clone(), lane: lane.clone() };
                /// The lanes that are configured and those that have executions.
                list_lanes(args: ListLanesArgs) -> LanesPage = ListLanes(ListLanesArgs): args;
                /// The worker instances that are alive.
                list_workers(args: ListWorkersArgs) -> WorkersPage = ListWorkers(ListWorkersArgs): args;
                /// The open waitpoints of an execution, without their tokens, oldest first.
                waitpoints(id: &ExecutionId) -> Vec<WaitpointInfo> = Waitpoints(ListWaitpoints):
                    ListWaitpoints { execution_id: *id };
                /// Mints a token for a waitpoint under the current secret, for an operator.
                waitpoint_token(id: &ExecutionId, waitpoint: &WaitpointId) -> WaitpointToken = WaitpointToken(MintToken):
                    MintToken { execution_id: *id, waitpoint_id: *waitpoint };
                /// The names of the secrets of every partition.
                kids() -> Vec<PartitionKids> = Kids(ListKids): ListKids;
                /// Lists the signals of an execution, oldest first.
                signals(args: SignalsArgs) -> SignalsPage = Signals(SignalsArgs): args;
                /// One signal with its bytes; refused as `not_found` when the execution received no such signal.
                signal(id: &ExecutionId, signal: &SignalId) -> ReceivedSignal = Signal(ReadSignal):
                    ReadSignal { execution_id: *id, signal_id: *signal };
                /// The deliveries on any partition since a cursor. Answers at once, perhaps with none.
                deliveries(args: DeliveriesArgs) -> DeliveriesPage = Deliveries(DeliveriesArgs): args;
                describe_flow(id: &FlowId) -> FlowInfo = DescribeFlow(DescribeFlow): DescribeFlow { flow_id: *id };
                /// The members of a flow, in the order they were added.
                flow_members(args: FlowMembersArgs) -> MembersPage = FlowMembers(FlowMembersArgs): args;
                /// The edges of a flow, in the order of their ids.
                flow_edges(args: FlowEdgesArgs) -> EdgesPage = FlowEdges(FlowEdgesArgs): args;
                /// Lists flows, newest first.
                list_flows(args: ListFlowsArgs) -> FlowsPage = ListFlows(ListFlowsArgs): args;
                /// The events of a flow since a position. Answers at once, perhaps with none.
                flow_events(args: FlowEventsArgs) -> FlowEventsPage = FlowEvents(FlowEventsArgs): args;
                /// The events on any partition since a cursor. Answers at once, perhaps with none. From then on, and
                /// for [`crate::limits::FOLLOWED_MS`] after the last such question, every event is kept for readers.
                events(args: EventsArgs) -> EventsPage = Events(EventsArgs): args;
                /// The usage of an execution, by attempt.
                usage(id: &ExecutionId) -> UsageInfo = Usage(ReadUsage): ReadUsage { execution_id: *id };
                /// Every key there ever was, without its hash.
                list_keys(args: ListKeysArgs) -> KeysPage = ListKeys(ListKeysArgs): args;
            }
            engine {
                /// The time of this store.
                now() -> TimestampMs = Now(Now): Now;
                /// Looks at a partition without a hint: its ready work, and when its next work is due.
                sweep(partition: u16) -> PartitionStatus = Sweep(Sweep): Sweep { partition };
                /// The configuration of an execution's lane, and the work ahead of the execution.
                queue_facts(args: QueueArgs) -> QueueFacts = QueueFacts(QueueArgs): args;
                /// A lane as callers see it, without finished executions, which take long to count.
                describe_live_lane(namespace: &Namespace, lane: &LaneId) -> LaneInfo = DescribeLiveLane(DescribeLiveLane):
                    DescribeLiveLane { namespace: namespace.clone(), lane: lane.clone() };
                /// The first executions of a queue on a partition.
                list_queue(args: ListQueueArgs) -> Vec<QueuedExecution> = ListQueue(ListQueueArgs): args;
                /// Everything a partition holds.
                snapshot(partition: u16) -> Snapshot = Snapshot(TakeSnapshot): TakeSnapshot { partition };
                /// Worker instances that may be gone; sweeping one decides.
                sweepable_workers() -> Vec<WorkerInstanceId> = SweepableWorkers(ListSweepableWorkers): ListSweepableWorkers;
                /// The quota policies of a namespace, as its home has them.
                quota_set(namespace: &Namespace) -> QuotaSet = QuotaSet(ReadQuotaSet):
                    ReadQuotaSet { namespace: namespace.clone() };
                /// The policies and budgets of each namespace that has any, or had one.
                all_quotas() -> Vec<QuotaSet> = AllQuotas(ListAllQuotas): ListAllQuotas;
                /// How a budget stands at its home.
                budget_ledger(args: ReadBudgetLedger) -> BudgetLedgerSums = BudgetLedger(ReadBudgetLedger): args;
                /// Executions whose usage budgets may not have counted.
                usage_backlog(args: UsageBacklogArgs) -> Vec<ExecutionId> = UsageBacklog(UsageBacklogArgs): args;
                /// The usage of an execution that budgets have not counted.
                pending_usage(id: &ExecutionId) -> Option<PendingUsage> = PendingUsage(ReadPendingUsage):
                    ReadPendingUsage { execution_id: *id };
                /// The values of a quota policy's key that are in use.
                quota_keys(args: QuotaKeysArgs) -> QuotaKeysPage = QuotaKeys(QuotaKeysArgs): args;
                /// The slots of a quota policy that are held.
                quota_slots(args: QuotaSlotsArgs) -> QuotaSlotsPage = QuotaSlots(QuotaSlotsArgs): args;
                /// A schedule by its name.
                find_schedule(schedule: &ScheduleRef) -> Option<Schedule> = FindSchedule(FindSchedule):
                    FindSchedule { schedule: schedule.clone() };
                /// The schedules of a namespace, in the order of their names.
                list_schedules(args: ListSchedulesArgs) -> SchedulesPage = ListSchedules(ListSchedulesArgs): args;
                /// The schedules of a partition that have to be looked at first, earliest first, and when.
                due_schedules(args: DueSchedulesArgs) -> Vec<DueSchedule> = DueSchedules(DueSchedulesArgs): args;
                /// When the first schedule of each partition has to be looked at, where there is one.
                schedule_agenda() -> Vec<PartitionTick> = ScheduleAgenda(ReadScheduleAgenda): ReadScheduleAgenda;
                /// A key with its hash, to check the one a caller presents.
                find_key(id: &KeyId) -> Option<ApiKey> = FindKey(FindKey): FindKey { key_id: id.clone() };
                /// The secrets tokens of a partition are signed under, for a server that signs or judges something itself. Every
                /// partition has the same, except while new ones are brought to them.
                key_ring(partition: u16) -> KeyRing = KeyRing(ReadKeyRing): ReadKeyRing { partition };
                /// Whether a token opens a waitpoint, without using it. Refused as `invalid_token` in every case, so that a
                /// caller without one learns nothing.
                judge_token(id: &ExecutionId, waitpoint: &WaitpointId, token: &PresentedToken) -> () = JudgeToken(JudgeToken):
                    JudgeToken { execution_id: *id, waitpoint_id: *waitpoint, token: token.clone() };
                /// The namespace of an execution; none where there is none of this id. It is asked before anything else of an id a
                /// tenant names, and reads the same little of one that exists and one that does not, so that its time does not
                /// tell them apart.
                namespace_of(id: &ExecutionId) -> Option<Namespace> = NamespaceOf(NamespaceOf):
                    NamespaceOf { execution_id: *id };
                /// The namespace of a flow, likewise.
                namespace_of_flow(id: &FlowId) -> Option<Namespace> = NamespaceOfFlow(NamespaceOfFlow):
                    NamespaceOfFlow { flow_id: *id };
                /// How an execution ended. While it has not, its end is among the hints from now on, for at least a long poll's
                /// time; stores may leave out ends that were not asked about.
                end_of(id: &ExecutionId) -> Option<ExecutionEnd> = EndOf(EndOf): EndOf { execution_id: *id };
                /// How a flow ended. While it has not, its end and its events are among the hints from now on, for at least a long
                /// poll's time; stores may leave out flows that were not asked about.
                end_of_flow(id: &FlowId) -> Option<FlowEnd> = EndOfFlow(EndOfFlow): EndOfFlow { flow_id: *id };
            }
        }
    };
}
pub(crate) use queries;

macro_rules! define_queries {
    (
        callers { $($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $name:ident($query:ty): $value:expr;)* }
        engine { $($(#[$edoc:meta])* $ecall:ident($($earg:ident: $etype:ty),*) -> $eanswer:ty = $ename:ident($equery:ty): $evalue:expr;)* }
    ) => {
        /// One question.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Query {
            $($name($query),)*
            $($ename($equery),)*
        }

        /// The answer to a question.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueryReply {
            $($name($answer),)*
            $($ename($eanswer),)*
        }

        impl Query {
            /// Its name in metrics and logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($call),)*
                    $(Self::$ename(_) => stringify!($ecall),)*
                }
            }
        }

        impl Query {
            /// Refuses arguments that no state of the store could make acceptable.
            pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
                match self {
                    $(Self::$name(query) => query.check_for(partitions),)*
                    $(Self::$ename(query) => query.check_for(partitions),)*
                }
            }
        }

        /// Has a store answer a question by the function it has for it.
        pub fn dispatch<S>(store: &S, query: Query) -> BoxedAnswer<'_, QueryReply>
        where
            S: Sync $(+ Handle<$query, $answer>)* $(+ Handle<$equery, $eanswer>)*,
        {
            match query {
                $(Query::$name(query) => Box::pin(async move { Ok(QueryReply::$name(store.handle(query).await?)) }),)*
                $(Query::$ename(query) => Box::pin(async move { Ok(QueryReply::$ename(store.handle(query).await?)) }),)*
            }
        }

        /// Has something that is not an engine's store answer a question; or gives the name of one only an engine asks.
        pub fn dispatch_for_caller<S>(store: &S, query: Query) -> Result<BoxedAnswer<'_, QueryReply>, &'static str>
        where
            S: Sync $(+ Handle<$query, $answer>)*,
        {
            match query {
                $(Query::$name(query) => {
                    Ok(Box::pin(async move { Ok(QueryReply::$name(store.handle(query).await?)) }))
                })*
                engines => Err(engines.name()),
            }
        }
    };
}

queries!(define_queries);

macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(pub $field: $type,)*
        }
    )*};
}

questions! {
    /// How does an execution stand?
    Describe { execution_id: ExecutionId }
    /// Which bytes was it submitted with?
    ReadPayload { execution_id: ExecutionId }
    /// How did it end?
    ReadResult { execution_id: ExecutionId }
    /// Which attempts were there at it?
    ReadAttempts { execution_id: ExecutionId }
    /// How much has it spent?
    ReadUsage { execution_id: ExecutionId }
    /// Which usage of it have budgets not counted?
    ReadPendingUsage { execution_id: ExecutionId }
    /// In which namespace is it?
    NamespaceOf { execution_id: ExecutionId }
    /// Has it ended, and how?
    EndOf { execution_id: ExecutionId }
    /// How does a lane stand?
    DescribeLane { namespace: Namespace, lane: LaneId }
    /// How does a lane stand, without finished executions?
    DescribeLiveLane { namespace: Namespace, lane: LaneId }
    /// Which waitpoints of an execution are open?
    ListWaitpoints { execution_id: ExecutionId }
    /// A token for a waitpoint.
    MintToken { execution_id: ExecutionId, waitpoint_id: WaitpointId }
    /// Does a token open a waitpoint?
    JudgeToken { execution_id: ExecutionId, waitpoint_id: WaitpointId, token: PresentedToken }
    /// One signal of an execution.
    ReadSignal { execution_id: ExecutionId, signal_id: SignalId }
    /// How does a flow stand?
    DescribeFlow { flow_id: FlowId }
    /// In which namespace is a flow?
    NamespaceOfFlow { flow_id: FlowId }
    /// Has a flow ended, and how?
    EndOfFlow { flow_id: FlowId }
    /// Which quota policies has a namespace?
    ReadQuotaSet { namespace: Namespace }
    /// A schedule by its name.
    FindSchedule { schedule: ScheduleRef }
    /// One key with its hash.
    FindKey { key_id: KeyId }
    /// Under which secrets are tokens of a partition signed?
    ReadKeyRing { partition: u16 }
    /// How does a partition stand?
    Sweep { partition: u16 }
    /// Which records does a partition hold?
    TakeSnapshot { partition: u16 }
}

/// The checks of a question that need no record.
trait Check {
    fn check_for(&self, partitions: &PartitionConfig) -> Result<(), Refusal>;
}

macro_rules! checks {
    ($(|$query:ident, $partitions:ident| $check:expr => $($type:ty),*;)*) => {$($(
        impl Check for $type {
            fn check_for(&self, $partitions: &PartitionConfig) -> Result<(), Refusal> {
                let $query = self;
                $check
            }
        }
    )*)*};
}

checks! {
    |query, partitions| check_id(&query.execution_id, partitions) =>
        Describe, QueueArgs, ReadUsage, ReadPendingUsage, ReadPayload, ReadResult, ReadAttempts, EndOf, ListWaitpoints, MintToken, ReadSignal;
    |query, partitions| check_partition(query.partition, partitions) =>
        ReadKeyRing, Sweep, TakeSnapshot, ListQueueArgs;
    |query, partitions| check_id(&query.execution_id, partitions).and(query.check()) =>
        SignalsArgs, ReadStreamArgs, ListStepsArgs;
    |query, _partitions| query.check() =>
        ListArgs, ListLanesArgs, ListWorkersArgs, DeliveriesArgs, FlowMembersArgs, FlowEdgesArgs, ListFlowsArgs,
        FlowEventsArgs, EventsArgs, ListKeysArgs, QuotaKeysArgs, QuotaSlotsArgs, ListSchedulesArgs;
    |query, partitions| DueSchedulesArgs::check_for(query, partitions) => DueSchedulesArgs;
    |_query, _partitions| Ok(()) =>
        DescribeLane, DescribeLiveLane, ListKids, DescribeFlow, Now, ListSweepableWorkers, FindKey, JudgeToken, NamespaceOf,
        NamespaceOfFlow, EndOfFlow, ReadQuotaSet, ListAllQuotas, ReadBudgetLedger, UsageBacklogArgs, FindSchedule,
        ReadScheduleAgenda;
}

/// Which namespaces are limited?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListAllQuotas;

/// When has the first schedule of each partition to be looked at?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadScheduleAgenda;

/// What time is it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now;

/// Which secrets does each partition have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListKids;

/// Which worker instances may be gone?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSweepableWorkers;
