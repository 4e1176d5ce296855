//! Long polls over HTTP: the server holds a request until there is an answer or the requested time has passed.

use async_trait::async_trait;
use ff_api::{ControlQuery, WaitMs};
use ff_core::backend::{Answer, LongPoll};
use ff_core::contracts::{
    ClaimedExecution, Control, ControlArgs, DeliveriesArgs, DeliveriesPage, EventsArgs, EventsPage, ExecutionEnd,
    FlowEnd, FlowEventsArgs, FlowEventsPage, NextArgs, ReadStreamArgs, StreamPage, check_wait,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::types::{ExecutionId, FlowId};

use super::HttpBackend;
use super::error::unreadable;

#[async_trait]
impl LongPoll for HttpBackend {
    /// One claim is on its way while the server works on the other.
    fn claims_at_once(&self) -> usize {
        2
    }

    async fn next(&self, mut args: NextArgs) -> Answer<Vec<ClaimedExecution>> {
        args.check()?;
        args.namespace = self.connection.effective_namespace(&args.namespace);
        let (instance, wait_ms) = (args.holder.worker_instance_id.clone(), args.wait_ms);
        let claim = ff_api::Claim::anywhere(args);
        let claims: ff_api::Claims =
            self.connection.post(&["workers", instance.as_str(), "claim"], &claim, wait_ms).await?;
        Ok(claims.into_claims().map_err(unreadable)?.claimed)
    }

    async fn control(&self, args: ControlArgs) -> Answer<Control> {
        check_wait(args.wait_ms)?;
        let query = ControlQuery { after: args.after, wait_ms: Some(WaitMs(args.wait_ms)) };
        self.connection.get(&["workers", args.worker_instance_id.as_str(), "control"], query, args.wait_ms).await
    }

    async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>> {
        check_wait(wait_ms)?;
        match self.connection.result_within(id, wait_ms).await {
            Ok(ended) => Ok(Some(ended)),
            Err(EngineError::Refused(refusal)) if refusal.code == Code::ExecutionNotTerminal => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn next_frames(&self, args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage> {
        check_wait(wait_ms)?;
        self.connection.frames_within(args, wait_ms).await
    }

    async fn next_deliveries(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        check_wait(wait_ms)?;
        self.connection.deliveries_within(args, wait_ms).await
    }

    async fn next_events(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        check_wait(wait_ms)?;
        self.connection.events_within(args, wait_ms).await
    }

    async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>> {
        check_wait(wait_ms)?;
        Ok(self.connection.flow_within(id, wait_ms).await?.end())
    }

    async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage> {
        check_wait(wait_ms)?;
        self.connection.flow_events_within(args, wait_ms).await
    }
}
