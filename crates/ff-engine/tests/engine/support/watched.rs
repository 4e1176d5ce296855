//! A store that is watched: counts what it is asked, and can be made to fail or to keep its hints to itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{
    Answer, EngineBackend, EventRoom, ExecutionRoom, FlowRoom, KeyRoom, LaneRoom, LaneSteps, LeaseRoom, SignalRoom,
    SuspensionRoom, Swept, Upkeep, WorkerRoom,
};
use ff_core::due::Pumped;
use ff_core::engine_error::EngineError;
use ff_core::event::contracts::{EventsArgs, EventsPage};
use ff_core::execution::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::flow::contracts::{
    CancelFlowArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, EdgesPage, FlowCancelled, FlowEdgesArgs,
    FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrowFlowArgs, Grown, ListFlowsArgs,
    MembersPage, SetFlowTagsArgs, SubmitFlowArgs, SubmittedFlow, TaggedFlow, WaitForChildrenArgs, WaitedForChildren,
};
use ff_core::hint::{Hint, Hints};
use ff_core::key::ApiKey;
use ff_core::key::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};
use ff_core::lane::Lane;
use ff_core::lane::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesPage, ListLanesArgs,
    RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lease::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::signal::contracts::{
    DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use ff_core::snapshot::Snapshot;
use ff_core::suspension::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, Resumed, SuspendArgs,
    Suspended, WaitpointInfo,
};
use ff_core::token::contracts::{PartitionKids, RotateSecretArgs, RotationReport};
use ff_core::token::{KeyRing, PresentedToken, WaitpointToken};
use ff_core::types::{
    ExecutionId, FlowId, KeyId, LaneId, Namespace, SignalId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use ff_core::worker::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};
use futures_util::stream::{self, StreamExt};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::yield_now;

/// A real store with somebody watching.
pub(crate) struct Watched {
    beneath: Arc<dyn Upkeep>,
    asked: Mutex<BTreeMap<&'static str, usize>>,
    down: AtomicBool,
    partitions_down: Mutex<Range<u16>>,
    deaf: Arc<AtomicBool>,
    missed: broadcast::Sender<Hint>,
    sweep_every: Mutex<Option<Duration>>,
    ahead_ms: AtomicU64,
    /// Without which nothing is read, as with a store that has only so many connections.
    connections: Semaphore,
}

impl Watched {
    pub(crate) fn over(beneath: Arc<dyn Upkeep>) -> Self {
        Self {
            beneath,
            asked: Mutex::default(),
            down: AtomicBool::new(false),
            partitions_down: Mutex::new(0..0),
            deaf: Arc::default(),
            missed: broadcast::Sender::new(16),
            sweep_every: Mutex::default(),
            ahead_ms: AtomicU64::new(0),
            connections: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    /// Leaves the store with so many connections.
    pub(crate) fn has_connections(&self, count: usize) {
        self.connections.forget_permits(Semaphore::MAX_PERMITS - count);
    }

    /// How often something was asked.
    pub(crate) fn asked_for(&self, what: &str) -> usize {
        self.asked.lock().unwrap().get(what).copied().unwrap_or(0)
    }

    /// Everything that was asked, and how often.
    pub(crate) fn asked(&self) -> BTreeMap<&'static str, usize> {
        self.asked.lock().unwrap().clone()
    }

    /// From now on every call fails, or none does.
    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// From now on every pump, sweep and claim of these partitions fails, and of no others.
    pub(crate) fn set_partitions_down(&self, partitions: Range<u16>) {
        *self.partitions_down.lock().unwrap() = partitions;
    }

    /// From now on hints are lost.
    pub(crate) fn lose_hints(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Hints come again, and listeners are told that they missed some.
    pub(crate) fn find_hints(&self) {
        self.deaf.store(false, Ordering::SeqCst);
        self.missed.send(Hint::Missed).unwrap();
    }

    /// Makes the store one whose hints can be lost unnoticed.
    pub(crate) fn sweep_every(&self, every: Duration) {
        *self.sweep_every.lock().unwrap() = Some(every);
    }

    /// Makes the clock that is shown go before the one the partitions go by, as between two machines.
    pub(crate) fn set_clock_ahead(&self, ms: u64) {
        self.ahead_ms.store(ms, Ordering::SeqCst);
    }

    fn ask(&self, what: &'static str) -> Answer<()> {
        *self.asked.lock().unwrap().entry(what).or_default() += 1;
        if self.down.load(Ordering::SeqCst) {
            return Err(EngineError::Unavailable("it is down for a test".into()));
        }
        Ok(())
    }
}

impl Watched {
    fn ask_of(&self, what: &'static str, partition: u16) -> Answer<()> {
        self.ask(what)?;
        if self.partitions_down.lock().unwrap().contains(&partition) {
            return Err(EngineError::Unavailable("its partition is down for a test".into()));
        }
        Ok(())
    }
}

macro_rules! watch {
    ($($room:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* $({$($more:tt)*})? })*) => {$(
        #[async_trait]
        impl $room for Watched {
            $(async fn $method(&self $(, $name: $type)*) -> Answer<$answer> {
                self.ask(stringify!($method))?;
                self.beneath.$method($($name),*).await
            })*
            $($($more)*)?
        }
    )*};
}

watch! {
    ExecutionRoom {
        submit(args: SubmitArgs) -> Submitted;
        submit_many(args: Vec<SubmitArgs>) -> Vec<Answer<Submitted>>;
        describe(id: &ExecutionId) -> ExecutionInfo;
        list(args: ListArgs) -> Page;
        payload(id: &ExecutionId) -> Payload;
        result(id: &ExecutionId) -> Ended;
        attempts(id: &ExecutionId) -> Attempts;
        progress(args: ProgressArgs) -> Noted;
        complete(args: CompleteArgs) -> Completed;
        fail(args: FailArgs) -> Failed;
        delay(args: DelayArgs) -> Delayed;
        cancel(args: CancelArgs) -> Cancelled;
        replay(args: ReplayArgs) -> Replayed;
        bulk(args: BulkArgs) -> BulkPage;
        change_priority(args: ChangePriorityArgs) -> PriorityChanged;
        set_tags(args: SetTagsArgs) -> Tagged;
    }
    LeaseRoom {
        renew(args: RenewArgs) -> Renewed;
        revoke(args: RevokeArgs) -> Revoked;
        {
            async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
                self.ask_of("claim", args.partition)?;
                self.beneath.claim(args).await
            }
        }
    }
    LaneRoom {
        configure_lane(args: ConfigureLaneArgs) -> LaneInfo;
        describe_lane(namespace: &Namespace, lane: &LaneId) -> LaneInfo;
        list_lanes(args: ListLanesArgs) -> LanesPage;
    }
    LaneSteps {
        configure(args: ConfigureLaneArgs) -> Lane;
        copy(args: CopyLaneArgs) -> LaneCount;
        allot(args: AllotArgs) -> Allotted;
        recount(args: RecountLaneArgs) -> LaneCount;
        settle(args: SettleLaneArgs) -> LaneSettled;
    }
    WorkerRoom {
        register_worker(args: RegisterWorkerArgs) -> RegisteredWorker;
        heartbeat(args: HeartbeatArgs) -> SeenWorker;
        leave(args: LeaveArgs) -> LeftWorker;
        list_workers(args: ListWorkersArgs) -> WorkersPage;
    }
    KeyRoom {
        create_key(args: CreateKeyArgs) -> CreatedKey;
        revoke_key(args: RevokeKeyArgs) -> RevokedKey;
        list_keys(args: ListKeysArgs) -> KeysPage;
    }
    EventRoom {
        events(args: EventsArgs) -> EventsPage;
    }
    SuspensionRoom {
        suspend(args: SuspendArgs) -> Suspended;
        create_waitpoint(args: CreateWaitpointArgs) -> GrantedWaitpoint;
        close_waitpoint(args: CloseWaitpointArgs) -> ClosedWaitpoint;
        resume(args: ResumeArgs) -> Resumed;
        waitpoints(id: &ExecutionId) -> Vec<WaitpointInfo>;
        waitpoint_token(id: &ExecutionId, waitpoint: &WaitpointId) -> WaitpointToken;
        rotate_secret(args: RotateSecretArgs) -> RotationReport;
        kids() -> Vec<PartitionKids>;
    }
    SignalRoom {
        deliver(args: DeliverArgs) -> Delivered;
        signals(args: SignalsArgs) -> SignalsPage;
        signal(id: &ExecutionId, signal: &SignalId) -> ReceivedSignal;
        deliveries(args: DeliveriesArgs) -> DeliveriesPage;
    }
    FlowRoom {
        submit_flow(args: SubmitFlowArgs) -> SubmittedFlow;
        create_flow(args: CreateFlowArgs) -> SubmittedFlow;
        grow_flow(args: GrowFlowArgs) -> Grown;
        close_flow(args: CloseFlowArgs) -> ClosedFlow;
        cancel_flow(args: CancelFlowArgs) -> FlowCancelled;
        set_flow_tags(args: SetFlowTagsArgs) -> TaggedFlow;
        describe_flow(id: &FlowId) -> FlowInfo;
        flow_members(args: FlowMembersArgs) -> MembersPage;
        flow_edges(args: FlowEdgesArgs) -> EdgesPage;
        list_flows(args: ListFlowsArgs) -> FlowsPage;
        flow_events(args: FlowEventsArgs) -> FlowEventsPage;
        wait_for_children(args: WaitForChildrenArgs) -> WaitedForChildren;
        cascade_completion(id: &ExecutionId) -> Cascaded;
    }
    Upkeep {
        end_of_flow(id: &FlowId) -> Option<FlowEnd>;
        find_key(id: &KeyId) -> Option<ApiKey>;
        key_ring() -> KeyRing;
        judge_token(id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> ();
        namespace_of(id: &ExecutionId) -> Option<Namespace>;
        namespace_of_flow(id: &FlowId) -> Option<Namespace>;
        sweep_workers() -> Vec<WorkerInstanceId>;
        snapshot(partition: u16) -> Snapshot;
        {
            async fn pump(&self, partition: u16) -> Answer<Pumped> {
                self.ask_of("pump", partition)?;
                self.beneath.pump(partition).await
            }

            async fn sweep(&self, partition: u16) -> Answer<Swept> {
                self.ask_of("sweep", partition)?;
                let _connection = self.connections.acquire().await.unwrap();
                let swept = self.beneath.sweep(partition).await;
                yield_now().await;
                swept
            }

            async fn now(&self) -> Answer<TimestampMs> {
                self.ask("now")?;
                let _connection = self.connections.acquire().await.unwrap();
                Ok(self.beneath.now().await? + self.ahead_ms.load(Ordering::SeqCst))
            }

            fn sweep_every(&self) -> Option<Duration> {
                *self.sweep_every.lock().unwrap()
            }

            fn hints(&self) -> Hints {
                let deaf = self.deaf.clone();
                let heard = self.beneath.hints().filter(move |_| {
                    let heard = !deaf.load(Ordering::SeqCst);
                    async move { heard }
                });
                let missed = stream::unfold(self.missed.subscribe(), |mut missed| async move {
                    Some((missed.recv().await.ok()?, missed))
                });
                Box::pin(stream::select(heard, missed))
            }

            fn outages(&self) -> &OutageLog {
                self.beneath.outages()
            }
        }
    }
}

impl EngineBackend for Watched {
    fn partitions(&self) -> PartitionConfig {
        self.beneath.partitions()
    }
}
