//! Long polls: calls that wait for an event before they answer.

use async_trait::async_trait;

use super::Answer;
use crate::event::contracts::{EventsArgs, EventsPage};
use crate::execution::contracts::ExecutionEnd;
use crate::flow::contracts::{FlowEnd, FlowEventsArgs, FlowEventsPage};
use crate::lease::contracts::{ClaimedExecution, Control, ControlArgs, NextArgs};
use crate::signal::contracts::{DeliveriesArgs, DeliveriesPage};
use crate::stream::contracts::{ReadStreamArgs, StreamPage};
use crate::types::{ExecutionId, FlowId};

/// The long polls of callers. No implementation polls: an answer is pushed, or the wait times out.
#[async_trait]
pub trait LongPoll: Send + Sync {
    /// Returns how many claims one worker with plenty of work should have under way.
    fn claims_at_once(&self) -> usize;

    /// Claims executions from any partition, waiting up to `wait_ms` for work. Empty when there was none in time.
    async fn next(&self, args: NextArgs) -> Answer<Vec<ClaimedExecution>>;

    /// Returns the leases that a worker instance has lost since a cursor, waiting for one up to `wait_ms`.
    async fn control(&self, args: ControlArgs) -> Answer<Control>;

    /// Returns the end of an execution, waiting for it up to `wait_ms`; `None` when it has not ended in time.
    async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>>;

    /// Returns the output of an execution from a cursor on, waiting for more up to `wait_ms`. Empty when there was none
    /// in time, and at once when the stream has ended.
    async fn next_frames(&self, args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage>;

    /// Returns the deliveries on any partition since a cursor, waiting for one up to `wait_ms`. Empty when there was
    /// none in time.
    async fn next_deliveries(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage>;

    /// Returns the events on any partition since a cursor, waiting for one up to `wait_ms`. Empty when there was none in time.
    async fn next_events(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage>;

    /// Returns the end of a flow, waiting for it up to `wait_ms`; `None` when it has not ended in time.
    async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>>;

    /// Returns the events of a flow since a position, waiting for one up to `wait_ms`. Empty when there was none in
    /// time, and at once when the flow has ended.
    async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage>;
}
