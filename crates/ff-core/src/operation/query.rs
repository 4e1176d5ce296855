//! All queries that a store answers, as values. Queries with several arguments are in the contracts of their domain;
//! the others are here.

use crate::api_key::ApiKey;
use crate::api_key::contracts::{KeysPage, ListKeysArgs};
use crate::backend::snapshot::Snapshot;
use crate::backend::{BoxedAnswer, Handle, PartitionStatus};
use crate::budget::contracts::{BudgetLedgerSums, PendingUsage, ReadBudgetLedger, UsageBacklogArgs, UsageInfo};
use crate::contracts::{QueueArgs, QueueFacts};
use crate::engine_error::{Refusal, check_page};
use crate::event::contracts::{EventsArgs, EventsPage};
use crate::execution::contracts::{Attempts, ExecutionEnd, ExecutionInfo, ListArgs, Page};
use crate::flow::contracts::{
    EdgesPage, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage,
    ListFlowsArgs, MembersPage,
};
use crate::lane::contracts::{LaneInfo, LanesPage, ListLanesArgs, ListQueueArgs, QueuedExecution};
use crate::limits;
use crate::partition::{PartitionConfig, check_id, check_partition};
use crate::payload::Payload;
use crate::quota::QuotaSet;
use crate::quota::contracts::{QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use crate::schedule::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::contracts::{DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage};
use crate::step::contracts::{ListStepsArgs, StepsPage};
use crate::stream::contracts::{ReadStreamArgs, StreamPage};
use crate::suspension::contracts::WaitpointInfo;
use crate::token::contracts::PartitionKids;
use crate::token::{KeyRing, PresentedToken, WaitpointToken};
use crate::types::{
    ExecutionId, FlowId, KeyId, LaneId, Namespace, SignalId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use crate::worker::contracts::{ListWorkersArgs, WorkersPage};

/// All queries, as `call(arguments) -> Answer = Variant(Query): the query made from the arguments`. Every caller may
/// send the queries under `callers`; only an engine sends those under `engine`.
macro_rules! queries {
    ($callback:ident) => {
        $callback! {
            callers {
                describe(id: &ExecutionId) -> ExecutionInfo = Describe(Describe): Describe { execution_id: *id };
                /// Lists executions, newest first. A page examines a bounded number of executions, so a page with few
                /// rows or none is not necessarily the last one.
                list(args: ListArgs) -> Page = List(ListArgs): args;
                /// Returns the payload that was submitted.
                payload(id: &ExecutionId) -> Payload = Payload(ReadPayload): ReadPayload { execution_id: *id };
                /// Returns how the execution ended. Refused as `execution_not_terminal` while it has not.
                result(id: &ExecutionId) -> ExecutionEnd = Result(ReadResult): ReadResult { execution_id: *id };
                attempts(id: &ExecutionId) -> Attempts = Attempts(ReadAttempts): ReadAttempts { execution_id: *id };
                /// Reads the output of an attempt, or of all attempts, from a cursor on. Returns at
                /// once, even without new output.
                read_stream(args: ReadStreamArgs) -> StreamPage = ReadStream(ReadStreamArgs): args;
                /// Lists the recorded steps of an execution with their results, in the order of recording. A page ends
                /// before it exceeds a mebibyte, but contains at least one step.
                list_steps(args: ListStepsArgs) -> StepsPage = ListSteps(ListStepsArgs): args;
                /// Returns the configuration of a lane, and its number of executions in each state.
                describe_lane(namespace: &Namespace, lane: &LaneId) -> LaneInfo = DescribeLane(DescribeLane):
                    DescribeLane { namespace: namespace.clone(), lane: lane.clone() };
                /// Lists the lanes that are configured or have executions.
                list_lanes(args: ListLanesArgs) -> LanesPage = ListLanes(ListLanesArgs): args;
                /// Lists the worker instances that are alive.
                list_workers(args: ListWorkersArgs) -> WorkersPage = ListWorkers(ListWorkersArgs): args;
                /// Lists the open waitpoints of an execution, oldest first, without their tokens.
                waitpoints(id: &ExecutionId) -> Vec<WaitpointInfo> = Waitpoints(ListWaitpoints):
                    ListWaitpoints { execution_id: *id };
                /// Mints a token for a waitpoint under the current secret, for an operator.
                waitpoint_token(id: &ExecutionId, waitpoint: &WaitpointId) -> WaitpointToken = WaitpointToken(MintToken):
                    MintToken { execution_id: *id, waitpoint_id: *waitpoint };
                /// Lists the names of the secrets of every partition.
                kids() -> Vec<PartitionKids> = Kids(ListKids): ListKids;
                /// Lists the signals of an execution, oldest first.
                signals(args: SignalsArgs) -> SignalsPage = Signals(SignalsArgs): args;
                /// Returns one signal with its bytes. Refused as `not_found` when the execution received no such signal.
                signal(id: &ExecutionId, signal: &SignalId) -> ReceivedSignal = Signal(ReadSignal):
                    ReadSignal { execution_id: *id, signal_id: *signal };
                /// Reads the deliveries of all partitions after a cursor. Returns at once, even without new deliveries.
                deliveries(args: DeliveriesArgs) -> DeliveriesPage = Deliveries(DeliveriesArgs): args;
                describe_flow(id: &FlowId) -> FlowInfo = DescribeFlow(DescribeFlow): DescribeFlow { flow_id: *id };
                /// Lists the members of a flow, in the order in which they were added.
                flow_members(args: FlowMembersArgs) -> MembersPage = FlowMembers(FlowMembersArgs): args;
                /// Lists the edges of a flow, in the order of their ids.
                flow_edges(args: FlowEdgesArgs) -> EdgesPage = FlowEdges(FlowEdgesArgs): args;
                /// Lists flows, newest first.
                list_flows(args: ListFlowsArgs) -> FlowsPage = ListFlows(ListFlowsArgs): args;
                /// Reads the events of a flow after a position. Returns at once, even without new events.
                flow_events(args: FlowEventsArgs) -> FlowEventsPage = FlowEvents(FlowEventsArgs): args;
                /// Reads the events of all partitions after a cursor. Returns at once, even without new events. Events are
                /// recorded for readers from this query on, until [`crate::limits::FOLLOWED_MS`] after the last one.
                events(args: EventsArgs) -> EventsPage = Events(EventsArgs): args;
                /// Returns the usage of an execution, by attempt.
                usage(id: &ExecutionId) -> UsageInfo = Usage(ReadUsage): ReadUsage { execution_id: *id };
                /// Lists all API keys ever created, without their hashes.
                list_keys(args: ListKeysArgs) -> KeysPage = ListKeys(ListKeysArgs): args;
            }
            engine {
                /// Returns the time of this store.
                now() -> TimestampMs = Now(Now): Now;
                /// Returns the ready work of a partition and the time at which its next work is due. Used without a hint.
                sweep(partition: u16) -> PartitionStatus = Sweep(Sweep): Sweep { partition };
                /// Returns the configuration of an execution's lane, and the work ahead of the execution.
                queue_facts(args: QueueArgs) -> QueueFacts = QueueFacts(QueueArgs): args;
                /// Returns a lane as callers see it, but does not count finished executions, because counting them takes long.
                describe_live_lane(namespace: &Namespace, lane: &LaneId) -> LaneInfo = DescribeLiveLane(DescribeLiveLane):
                    DescribeLiveLane { namespace: namespace.clone(), lane: lane.clone() };
                /// Lists the first executions of a queue on a partition.
                list_queue(args: ListQueueArgs) -> Vec<QueuedExecution> = ListQueue(ListQueueArgs): args;
                /// Returns all records of a partition.
                snapshot(partition: u16) -> Snapshot = Snapshot(TakeSnapshot): TakeSnapshot { partition };
                /// Lists worker instances that may be gone. The sweep of a worker instance decides whether it is.
                sweepable_workers() -> Vec<WorkerInstanceId> = SweepableWorkers(ListSweepableWorkers): ListSweepableWorkers;
                /// Returns the quota policies of a namespace, as stored at its home.
                quota_set(namespace: &Namespace) -> QuotaSet = QuotaSet(ReadQuotaSet):
                    ReadQuotaSet { namespace: namespace.clone() };
                /// Lists the policies and budgets of each namespace that has or had any.
                all_quotas() -> Vec<QuotaSet> = AllQuotas(ListAllQuotas): ListAllQuotas;
                /// Returns the balance of a budget at its home.
                budget_ledger(args: ReadBudgetLedger) -> BudgetLedgerSums = BudgetLedger(ReadBudgetLedger): args;
                /// Lists executions with usage that budgets may not have counted.
                usage_backlog(args: UsageBacklogArgs) -> Vec<ExecutionId> = UsageBacklog(UsageBacklogArgs): args;
                /// Returns the usage of an execution that budgets have not counted.
                pending_usage(id: &ExecutionId) -> Option<PendingUsage> = PendingUsage(ReadPendingUsage):
                    ReadPendingUsage { execution_id: *id };
                /// Lists the values of a quota policy's key that are in use.
                quota_keys(args: QuotaKeysArgs) -> QuotaKeysPage = QuotaKeys(QuotaKeysArgs): args;
                /// Lists the slots of a quota policy that are held.
                quota_slots(args: QuotaSlotsArgs) -> QuotaSlotsPage = QuotaSlots(QuotaSlotsArgs): args;
                /// Returns a schedule by its name.
                find_schedule(schedule: &ScheduleRef) -> Option<Schedule> = FindSchedule(FindSchedule):
                    FindSchedule { schedule: schedule.clone() };
                /// Lists the schedules of a namespace, in the order of their names.
                list_schedules(args: ListSchedulesArgs) -> SchedulesPage = ListSchedules(ListSchedulesArgs): args;
                /// Lists the schedules of a partition that must be processed first, with their times, earliest first.
                due_schedules(args: DueSchedulesArgs) -> Vec<DueSchedule> = DueSchedules(DueSchedulesArgs): args;
                /// Lists the partitions with schedules, each with the time at which its first schedule must be processed.
                schedule_agenda() -> Vec<PartitionTick> = ScheduleAgenda(ReadScheduleAgenda): ReadScheduleAgenda;
                /// Returns an API key with its hash, to verify the key that a caller presents.
                find_key(id: &KeyId) -> Option<ApiKey> = FindKey(FindKey): FindKey { key_id: id.clone() };
                /// Returns the secrets under which tokens of a partition are signed, for a server that signs or
                /// verifies tokens itself. All partitions have the same secrets, except during a rotation.
                key_ring(partition: u16) -> KeyRing = KeyRing(ReadKeyRing): ReadKeyRing { partition };
                /// Verifies that a token opens a waitpoint, without using the token. Every failure is refused as
                /// `invalid_token`, so that a caller without a valid token learns nothing.
                verify_token(id: &ExecutionId, waitpoint: &WaitpointId, token: &PresentedToken) -> () =
                    VerifyToken(VerifyToken):
                    VerifyToken { execution_id: *id, waitpoint_id: *waitpoint, token: token.clone() };
                /// Returns the namespace of an execution, or `None` for an unknown id. A server sends this query before
                /// any other about an id that a tenant names. It reads equally little for existing and unknown ids, so
                /// that its duration does not reveal which ids exist.
                namespace_of(id: &ExecutionId) -> Option<Namespace> = NamespaceOf(NamespaceOf):
                    NamespaceOf { execution_id: *id };
                /// Returns the namespace of a flow, in the same way.
                namespace_of_flow(id: &FlowId) -> Option<Namespace> = NamespaceOfFlow(NamespaceOfFlow):
                    NamespaceOfFlow { flow_id: *id };
                /// Returns how an execution ended. While it has not, its end is among the hints from now on, for at
                /// least the duration of a long poll. Stores may omit the hints of ends that were not queried.
                end_of(id: &ExecutionId) -> Option<ExecutionEnd> = EndOf(EndOf): EndOf { execution_id: *id };
                /// Returns how a flow ended. While it has not, its end and its events are among the hints from now on,
                /// for at least the duration of a long poll. Stores may omit the hints of flows that were not queried.
                end_of_flow(id: &FlowId) -> Option<FlowEnd> = EndOfFlow(EndOfFlow): EndOfFlow { flow_id: *id };
            }
        }
    };
}
pub(crate) use queries;

macro_rules! define_queries {
    (callers { $($callers:tt)* } engine { $($engine:tt)* }) => {
        define_queries! { $($callers)* $($engine)* }
        define_queries! { callers $($callers)* }
    };
    (callers $($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $name:ident($query:ty): $value:expr;)*) => {
        /// Executes a query on a backend that is not an engine's store. Returns the name of a query that only an engine sends.
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
    ($($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $name:ident($query:ty): $value:expr;)*) => {
        /// One query.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Query {
            $($name($query),)*
        }

        /// The reply to a query.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueryReply {
            $($name($answer),)*
        }

        impl Query {
            /// Returns the name of the query in metrics and logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($call),)*
                }
            }

            /// Refuses arguments that are invalid in every state of the store.
            pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
                match self {
                    $(Self::$name(query) => query.check_for(partitions),)*
                }
            }
        }

        /// Executes a query with the store's handler for it.
        pub fn dispatch<S>(store: &S, query: Query) -> BoxedAnswer<'_, QueryReply>
        where
            S: Sync $(+ Handle<$query, $answer>)*,
        {
            match query {
                $(Query::$name(query) => Box::pin(async move { Ok(QueryReply::$name(store.handle(query).await?)) }),)*
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

macro_rules! plain_questions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;
    )*};
}

plain_questions! {
    /// A query for the policies and budgets of all namespaces.
    ListAllQuotas
    /// A query for the time of the first schedule of each partition.
    ReadScheduleAgenda
    /// A query for the time of the store.
    Now
    /// A query for the secrets of each partition.
    ListKids
    /// A query for the worker instances that may be gone.
    ListSweepableWorkers
}

questions! {
    /// A query for the state of an execution.
    Describe { execution_id: ExecutionId }
    /// A query for the payload that was submitted.
    ReadPayload { execution_id: ExecutionId }
    /// A query for the result of an execution.
    ReadResult { execution_id: ExecutionId }
    /// A query for the attempts of an execution.
    ReadAttempts { execution_id: ExecutionId }
    /// A query for the usage of an execution.
    ReadUsage { execution_id: ExecutionId }
    /// A query for the usage of an execution that budgets have not counted.
    ReadPendingUsage { execution_id: ExecutionId }
    /// A query for the namespace of an execution.
    NamespaceOf { execution_id: ExecutionId }
    /// A query for the end of an execution, if it has ended.
    EndOf { execution_id: ExecutionId }
    /// A query for the state of a lane.
    DescribeLane { namespace: Namespace, lane: LaneId }
    /// A query for the state of a lane, without finished executions.
    DescribeLiveLane { namespace: Namespace, lane: LaneId }
    /// A query for the open waitpoints of an execution.
    ListWaitpoints { execution_id: ExecutionId }
    /// A query for a new token of a waitpoint.
    MintToken { execution_id: ExecutionId, waitpoint_id: WaitpointId }
    /// A query that verifies the token of a waitpoint.
    VerifyToken { execution_id: ExecutionId, waitpoint_id: WaitpointId, token: PresentedToken }
    /// A query for one signal of an execution.
    ReadSignal { execution_id: ExecutionId, signal_id: SignalId }
    /// A query for the state of a flow.
    DescribeFlow { flow_id: FlowId }
    /// A query for the namespace of a flow.
    NamespaceOfFlow { flow_id: FlowId }
    /// A query for the end of a flow, if it has ended.
    EndOfFlow { flow_id: FlowId }
    /// A query for the quota policies of a namespace.
    ReadQuotaSet { namespace: Namespace }
    /// A query for a schedule by its name.
    FindSchedule { schedule: ScheduleRef }
    /// A query for an API key with its hash.
    FindKey { key_id: KeyId }
    /// A query for the secrets under which tokens of a partition are signed.
    ReadKeyRing { partition: u16 }
    /// A query for the ready and due work of a partition.
    Sweep { partition: u16 }
    /// A query for all records of a partition.
    TakeSnapshot { partition: u16 }
}

/// The checks of a query that need no record.
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
        ListArgs, DeliveriesArgs, FlowMembersArgs, FlowEdgesArgs, ListFlowsArgs, FlowEventsArgs, EventsArgs,
        ListSchedulesArgs;
    |query, _partitions| check_page(query.limit, limits::PAGE) =>
        ListLanesArgs, ListWorkersArgs, ListKeysArgs, QuotaKeysArgs, QuotaSlotsArgs;
    |query, partitions| check_partition(query.partition, partitions).and(check_page(query.limit, limits::PAGE)) =>
        DueSchedulesArgs;
    |_query, _partitions| Ok(()) =>
        DescribeLane, DescribeLiveLane, ListKids, DescribeFlow, Now, ListSweepableWorkers, FindKey, VerifyToken,
        NamespaceOf, NamespaceOfFlow, EndOfFlow, ReadQuotaSet, ListAllQuotas, ReadBudgetLedger, UsageBacklogArgs,
        FindSchedule, ReadScheduleAgenda;
}
