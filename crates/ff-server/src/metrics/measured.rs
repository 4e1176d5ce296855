//! A store in front of which everything is counted and timed. It is the one place through which the engine, the scheduler and
//! callers all ask, so nothing is counted twice and nothing is left out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ff_core::backend::{
    Answer, EngineBackend, EventRoom, ExecutionRoom, FlowRoom, KeyRoom, LaneRoom, LaneSteps, LeaseRoom, SignalRoom,
    SuspensionRoom, Swept, Upkeep, WorkerRoom,
};
use ff_core::contracts::{
    AllotArgs, Allotted, Attempts, BulkArgs, BulkPage, CancelArgs, CancelFlowArgs, Cancelled, Cascaded,
    ChangePriorityArgs, ClaimArgs, Claims, CloseFlowArgs, CloseWaitpointArgs, ClosedFlow, ClosedWaitpoint,
    CompleteArgs, Completed, ConfigureLaneArgs, CopyLaneArgs, CreateFlowArgs, CreateKeyArgs, CreateWaitpointArgs,
    CreatedKey, DelayArgs, Delayed, DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, EdgesPage, Ended,
    EventsArgs, EventsPage, ExecutionInfo, FailArgs, Failed, FlowCancelled, FlowEdgesArgs, FlowEnd, FlowEventsArgs,
    FlowEventsPage, FlowInfo, FlowMembersArgs, FlowsPage, GrantedWaitpoint, GrowFlowArgs, Grown, HeartbeatArgs,
    KeysPage, LaneCount, LaneInfo, LaneSettled, LanesPage, LeaveArgs, LeftWorker, ListArgs, ListFlowsArgs,
    ListKeysArgs, ListLanesArgs, ListWorkersArgs, MembersPage, Noted, Page, PartitionKids, PriorityChanged,
    ProgressArgs, ReceivedSignal, RecountLaneArgs, RegisterWorkerArgs, RegisteredWorker, RenewArgs, Renewed,
    ReplayArgs, Replayed, ResumeArgs, Resumed, RevokeArgs, RevokeKeyArgs, Revoked, RevokedKey, RotateSecretArgs,
    RotationReport, SeenWorker, SetFlowTagsArgs, SetTagsArgs, SettleLaneArgs, SignalsArgs, SignalsPage, SubmitArgs,
    SubmitFlowArgs, Submitted, SubmittedFlow, SuspendArgs, Suspended, Tagged, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren, WaitpointInfo, WorkersPage,
};
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::lane::Lane;
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::snapshot::Snapshot;
use ff_core::token::{KeyRing, PresentedToken, WaitpointToken};
use ff_core::types::{
    ExecutionId, FlowId, KeyId, LaneId, Namespace, SignalId, TimestampMs, WaitpointId, WorkerInstanceId,
};

use super::gathered::{Gathered, lane_of};

/// A store that is counted.
pub(super) struct Measured {
    store: Arc<dyn Upkeep>,
    gathered: Arc<Gathered>,
}

impl Measured {
    pub(super) fn new(store: Arc<dyn Upkeep>, gathered: Arc<Gathered>) -> Self {
        Self { store, gathered }
    }

    async fn timed<T>(&self, operation: &'static str, asked: impl Future<Output = Answer<T>>) -> Answer<T> {
        let began = Instant::now();
        let answer = asked.await;
        self.gathered.asked(operation, began.elapsed(), &answer);
        answer
    }

    /// Notes how far behind a reader is that was told of a moment last.
    async fn told(&self, feed: &'static str, last: Option<TimestampMs>) {
        let Some(last) = last else { return };
        let now = match self.gathered.clock.now() {
            Some(now) => Ok(now),
            None => self.now().await,
        };
        // A store that does not say what time it is is counted as one that does not answer.
        if let Ok(now) = now {
            self.gathered.told(feed, last, now);
        }
    }
}

macro_rules! timed {
    ($($room:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* $({$($more:tt)*})? })*) => {$(
        #[async_trait]
        impl $room for Measured {
            $(async fn $method(&self $(, $name: $type)*) -> Answer<$answer> {
                self.timed(stringify!($method), self.store.$method($($name),*)).await
            })*
            $($($more)*)?
        }
    )*};
}

timed! {
    ExecutionRoom {
        submit(args: SubmitArgs) -> Submitted;
        submit_many(args: Vec<SubmitArgs>) -> Vec<Answer<Submitted>>;
        describe(id: &ExecutionId) -> ExecutionInfo;
        list(args: ListArgs) -> Page;
        payload(id: &ExecutionId) -> Payload;
        result(id: &ExecutionId) -> Ended;
        attempts(id: &ExecutionId) -> Attempts;
        progress(args: ProgressArgs) -> Noted;
        delay(args: DelayArgs) -> Delayed;
        cancel(args: CancelArgs) -> Cancelled;
        replay(args: ReplayArgs) -> Replayed;
        bulk(args: BulkArgs) -> BulkPage;
        change_priority(args: ChangePriorityArgs) -> PriorityChanged;
        set_tags(args: SetTagsArgs) -> Tagged;
        {
            async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
                let lease = args.fence.lease_id;
                let completed = self.timed("complete", self.store.complete(args)).await?;
                self.gathered.completed(lease);
                Ok(completed)
            }

            async fn fail(&self, args: FailArgs) -> Answer<Failed> {
                let (lease, category) = (args.fence.lease_id, args.failure.category.clone());
                let failed = self.timed("fail", self.store.fail(args)).await?;
                self.gathered.failed(lease, category, &failed);
                Ok(failed)
            }
        }
    }
    LeaseRoom {
        renew(args: RenewArgs) -> Renewed;
        revoke(args: RevokeArgs) -> Revoked;
        {
            async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
                let lane = lane_of(&args);
                let claims = self.timed("claim", self.store.claim(args)).await?;
                self.gathered.claimed(&lane, &claims.claimed);
                Ok(claims)
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
        {
            async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
                let page = self.timed("events", self.store.events(args)).await?;
                self.told("events", page.events.last().map(|told| told.position.at)).await;
                if page.missed {
                    self.gathered.missed("events");
                }
                Ok(page)
            }
        }
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
        {
            async fn deliveries(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
                let page = self.timed("deliveries", self.store.deliveries(args)).await?;
                self.told("deliveries", page.deliveries.last().map(|delivery| delivery.position.at)).await;
                if page.missed {
                    self.gathered.missed("deliveries");
                }
                Ok(page)
            }
        }
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
        end_of(id: &ExecutionId) -> Option<Ended>;
        end_of_flow(id: &FlowId) -> Option<FlowEnd>;
        sweep(partition: u16) -> Swept;
        sweep_workers() -> Vec<WorkerInstanceId>;
        find_key(id: &KeyId) -> Option<ApiKey>;
        key_ring() -> KeyRing;
        judge_token(id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> ();
        namespace_of(id: &ExecutionId) -> Option<Namespace>;
        namespace_of_flow(id: &FlowId) -> Option<Namespace>;
        snapshot(partition: u16) -> Snapshot;
        {
            async fn now(&self) -> Answer<TimestampMs> {
                let now = self.timed("now", self.store.now()).await?;
                self.gathered.clock.set(now);
                Ok(now)
            }

            async fn pump(&self, partition: u16) -> Answer<Pumped> {
                let pumped = self.timed("pump", self.store.pump(partition)).await?;
                self.gathered.pumped(&pumped);
                Ok(pumped)
            }

            fn sweep_every(&self) -> Option<Duration> {
                self.store.sweep_every()
            }

            fn hints(&self) -> Hints {
                self.store.hints()
            }

            fn outages(&self) -> &OutageLog {
                self.store.outages()
            }
        }
    }
}

impl EngineBackend for Measured {
    fn partitions(&self) -> PartitionConfig {
        self.store.partitions()
    }
}
