//! Long polls of a store in this process: the scheduler hands out work, and the notifier answers the other polls.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::backend::{Answer, EngineStore, LongPoll};
use ff_core::contracts::{
    ClaimedExecution, Control, ControlArgs, DeliveriesArgs, DeliveriesPage, EventsArgs, EventsPage, ExecutionEnd,
    FlowEnd, FlowEventsArgs, FlowEventsPage, NextArgs, ReadStreamArgs, StreamPage,
};
use ff_core::types::{ExecutionId, FlowId};
use ff_engine::Notifier;

use crate::Scheduler;

/// The scheduler and the notifier of a store in this process.
pub struct LongPolls {
    scheduler: Arc<Scheduler>,
    notifier: Arc<Notifier>,
    claims_at_once: usize,
}

impl LongPolls {
    /// Starts listening to a store.
    pub fn start(store: &Arc<dyn EngineStore>) -> Self {
        Self {
            scheduler: Scheduler::start(store.clone()),
            notifier: Notifier::start(store.clone()),
            claims_at_once: store.claims_at_once(),
        }
    }

    /// Answers all long polls at once; later ones are answered without waiting.
    pub fn stop(&self) {
        self.scheduler.stop();
        self.notifier.stop();
    }

    /// Stops, and waits until the scheduler makes no more calls to the store.
    pub async fn end(&self) {
        self.notifier.stop();
        self.scheduler.end().await;
    }
}

#[async_trait]
impl LongPoll for LongPolls {
    fn claims_at_once(&self) -> usize {
        self.claims_at_once
    }

    async fn next(&self, args: NextArgs) -> Answer<Vec<ClaimedExecution>> {
        self.scheduler.next(args).await
    }

    async fn control(&self, args: ControlArgs) -> Answer<Control> {
        self.notifier.control(args).await
    }

    async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>> {
        self.notifier.ended(id, wait_ms).await
    }

    async fn next_frames(&self, args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage> {
        self.notifier.next_frames(args, wait_ms).await
    }

    async fn next_deliveries(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        self.notifier.next_deliveries(args, wait_ms).await
    }

    async fn next_events(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        self.notifier.next_events(args, wait_ms).await
    }

    async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>> {
        self.notifier.flow_ended(id, wait_ms).await
    }

    async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        self.notifier.next_flow_events(args, wait_ms).await
    }
}
