//! A store with a stopwatch: what the SDK asks of it takes as long as before, and is known afterwards.

mod operating;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ff_core::backend::{
    Answer, EngineBackend, ExecutionRoom, FlowRoom, LeaseRoom, SignalRoom, SuspensionRoom, Swept, Upkeep,
};
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, CancelFlowArgs, Cancelled, Cascaded, ChangePriorityArgs, ClaimArgs,
    Claims, CloseFlowArgs, CloseWaitpointArgs, ClosedFlow, ClosedWaitpoint, CompleteArgs, Completed, CreateFlowArgs,
    CreateWaitpointArgs, DelayArgs, Delayed, DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, EdgesPage, Ended,
    ExecutionInfo, FailArgs, Failed, FlowCancelled, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo,
    FlowMembersArgs, FlowsPage, GrantedWaitpoint, GrowFlowArgs, Grown, ListArgs, ListFlowsArgs, MembersPage, Noted,
    Page, PartitionKids, PriorityChanged, ProgressArgs, ReceivedSignal, RenewArgs, Renewed, ReplayArgs, Replayed,
    ResumeArgs, Resumed, RevokeArgs, Revoked, RotateSecretArgs, RotationReport, SetFlowTagsArgs, SetTagsArgs,
    SignalsArgs, SignalsPage, SubmitArgs, SubmitFlowArgs, Submitted, SubmittedFlow, SuspendArgs, Suspended, Tagged,
    TaggedFlow, WaitForChildrenArgs, WaitedForChildren, WaitpointInfo,
};
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::snapshot::Snapshot;
use ff_core::token::{KeyRing, PresentedToken, WaitpointToken};
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, SignalId, TimestampMs, WaitpointId, WorkerInstanceId};
use ff_sdk::Waitpoint;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::latency::Latencies;

/// A store whose operations are timed.
pub(super) struct Timed {
    store: Arc<dyn Upkeep>,
    pub(super) latencies: Latencies,
    completed: watch::Sender<u64>,
    /// Who wants to know of suspensions, if anybody does.
    suspended: OnceLock<mpsc::UnboundedSender<Waitpoint>>,
    /// One permit for each execution that may be submitted before another is completed.
    room: Semaphore,
}

/// How many executions may be on their way. A line that grows for as long as it is measured would tell how fast one can
/// submit, and after that how fast one can work; what is wanted is both at once.
const ON_THEIR_WAY: usize = 4_000;

impl Timed {
    pub(super) fn over(store: Arc<dyn Upkeep>) -> Self {
        let room = Semaphore::new(ON_THEIR_WAY);
        Self {
            store,
            latencies: Latencies::default(),
            completed: watch::Sender::new(0),
            suspended: OnceLock::new(),
            room,
        }
    }

    /// How many executions were completed so far.
    pub(super) fn completed(&self) -> u64 {
        *self.completed.borrow()
    }

    /// Returns when so many executions have been completed.
    pub(super) async fn until_completed(&self, count: u64) {
        // Fails when the sender is gone, which is here.
        self.completed.subscribe().wait_for(|completed| *completed >= count).await.ok();
    }

    /// The waitpoints of what suspends from here on. There is one who wants to know.
    pub(super) fn suspended(&self) -> mpsc::UnboundedReceiver<Waitpoint> {
        let (tell, told) = mpsc::unbounded_channel();
        // A second one would hear nothing, for its sender goes.
        self.suspended.set(tell).ok();
        told
    }

    /// Returns when there is room for one more execution on its way.
    pub(super) async fn room(&self) {
        // Fails when it is closed, which it never is.
        if let Ok(permit) = self.room.acquire().await {
            permit.forget();
        }
    }

    async fn time<T>(&self, name: &str, asked: impl Future<Output = Answer<T>>) -> Answer<T> {
        let began = Instant::now();
        let answer = asked.await;
        if answer.is_ok() {
            self.latencies.took(name, began.elapsed());
        }
        answer
    }
}

#[async_trait]
impl ExecutionRoom for Timed {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        self.time("submit", self.store.submit(args)).await
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        self.time("submit_many", self.store.submit_many(args)).await
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        self.store.describe(id).await
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        self.store.list(args).await
    }

    async fn payload(&self, id: &ExecutionId) -> Answer<Payload> {
        self.store.payload(id).await
    }

    async fn result(&self, id: &ExecutionId) -> Answer<Ended> {
        self.store.result(id).await
    }

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts> {
        self.store.attempts(id).await
    }

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted> {
        self.store.progress(args).await
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        let answer = self.time("complete", self.store.complete(args)).await;
        if answer.is_ok() {
            self.completed.send_modify(|completed| *completed += 1);
            self.room.add_permits(1);
        }
        answer
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        self.store.fail(args).await
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        self.store.delay(args).await
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        self.store.cancel(args).await
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        self.store.replay(args).await
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        self.store.bulk(args).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        self.store.change_priority(args).await
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        self.store.set_tags(args).await
    }
}

#[async_trait]
impl LeaseRoom for Timed {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        self.time("claim", self.store.claim(args)).await
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.time("renew", self.store.renew(args)).await
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.store.revoke(args).await
    }
}

#[async_trait]
impl SuspensionRoom for Timed {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        let id = args.execution_id;
        let answer = self.time("suspend", self.store.suspend(args)).await;
        if let (Ok(suspended), Some(tell)) = (&answer, self.suspended.get()) {
            for granted in &suspended.waitpoints {
                // Fails when nobody wants to know any more.
                tell.send(Waitpoint::new(id, granted.clone())).ok();
            }
        }
        answer
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        self.store.create_waitpoint(args).await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        self.store.close_waitpoint(args).await
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        self.store.resume(args).await
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        self.store.waitpoints(id).await
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        self.store.waitpoint_token(id, waitpoint).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        self.store.rotate_secret(args).await
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        self.store.kids().await
    }
}

#[async_trait]
impl SignalRoom for Timed {
    async fn deliver(&self, args: DeliverArgs) -> Answer<Delivered> {
        self.time("deliver", self.store.deliver(args)).await
    }

    async fn signals(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        self.store.signals(args).await
    }

    async fn signal(&self, id: &ExecutionId, signal: &SignalId) -> Answer<ReceivedSignal> {
        self.store.signal(id, signal).await
    }

    async fn deliveries(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        self.store.deliveries(args).await
    }
}

impl EngineBackend for Timed {
    fn partitions(&self) -> PartitionConfig {
        self.store.partitions()
    }
}

#[async_trait]
impl FlowRoom for Timed {
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        self.time("submit_flow", self.store.submit_flow(args)).await
    }

    async fn create_flow(&self, args: CreateFlowArgs) -> Answer<SubmittedFlow> {
        self.store.create_flow(args).await
    }

    async fn grow_flow(&self, args: GrowFlowArgs) -> Answer<Grown> {
        self.store.grow_flow(args).await
    }

    async fn close_flow(&self, args: CloseFlowArgs) -> Answer<ClosedFlow> {
        self.store.close_flow(args).await
    }

    async fn cancel_flow(&self, args: CancelFlowArgs) -> Answer<FlowCancelled> {
        self.time("cancel_flow", self.store.cancel_flow(args)).await
    }

    async fn set_flow_tags(&self, args: SetFlowTagsArgs) -> Answer<TaggedFlow> {
        self.store.set_flow_tags(args).await
    }

    async fn describe_flow(&self, id: &FlowId) -> Answer<FlowInfo> {
        self.store.describe_flow(id).await
    }

    async fn flow_members(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        self.store.flow_members(args).await
    }

    async fn flow_edges(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        self.store.flow_edges(args).await
    }

    async fn list_flows(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        self.store.list_flows(args).await
    }

    async fn flow_events(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.store.flow_events(args).await
    }

    async fn wait_for_children(&self, args: WaitForChildrenArgs) -> Answer<WaitedForChildren> {
        self.store.wait_for_children(args).await
    }

    async fn cascade_completion(&self, id: &ExecutionId) -> Answer<Cascaded> {
        self.store.cascade_completion(id).await
    }
}

#[async_trait]
impl Upkeep for Timed {
    async fn now(&self) -> Answer<TimestampMs> {
        self.store.now().await
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        self.store.pump(partition).await
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        self.store.sweep_workers().await
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        self.store.sweep(partition).await
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        self.store.find_key(id).await
    }

    async fn key_ring(&self) -> Answer<KeyRing> {
        self.store.key_ring().await
    }

    async fn judge_token(&self, id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> Answer<()> {
        self.store.judge_token(id, waitpoint, shown).await
    }

    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>> {
        self.store.namespace_of(id).await
    }

    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>> {
        self.store.namespace_of_flow(id).await
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

    async fn end_of(&self, id: &ExecutionId) -> Answer<Option<Ended>> {
        self.store.end_of(id).await
    }

    async fn end_of_flow(&self, id: &FlowId) -> Answer<Option<FlowEnd>> {
        self.store.end_of_flow(id).await
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        self.store.snapshot(partition).await
    }
}
