//! Asking and waiting: answers that come when something happens.

use async_trait::async_trait;

use super::Answer;
use crate::event::contracts::{EventsArgs, EventsPage};
use crate::execution::contracts::ExecutionEnd;
use crate::flow::contracts::{FlowEnd, FlowEventsArgs, FlowEventsPage};
use crate::lease::contracts::{ClaimedExecution, Control, ControlArgs, NextArgs};
use crate::signal::contracts::{DeliveriesArgs, DeliveriesPage};
use crate::stream::contracts::{ReadStreamArgs, StreamPage};
use crate::types::{ExecutionId, FlowId};

/// The long polls of callers. Nothing here polls: an answer is pushed, or the wait runs out.
#[async_trait]
pub trait LongPoll: Send + Sync {
    /// Takes work from wherever there is some, waiting for it up to `wait_ms`. Empty when there was none in time.
    async fn next(&self, args: NextArgs) -> Answer<Vec<ClaimedExecution>>;

    /// Tells a worker instance which of its leases it lost, waiting for news up to `wait_ms`.
    async fn control(&self, args: ControlArgs) -> Answer<Control>;

    /// How an execution ended, waiting for its end up to `wait_ms`; `None` when it has not ended in time.
    async fn ended(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Option<ExecutionEnd>>;

    /// The output of an execution from a cursor on, waiting for more up to `wait_ms`. Empty when there was nothing in time, and
    /// at once when there is nothing more to come.
    async fn next_frames(&self, args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage>;

    /// The deliveries on any partition since a cursor, waiting for one up to `wait_ms`. Empty when there was
    /// none in time.
    async fn next_deliveries(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage>;

    /// The events on any partition since a cursor, waiting for one up to `wait_ms`. Empty when there was none in
    /// time.
    async fn next_events(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage>;

    /// How a flow ended, waiting for its end up to `wait_ms`; `None` when it has not ended in time.
    async fn flow_ended(&self, id: &FlowId, wait_ms: u64) -> Answer<Option<FlowEnd>>;

    /// The events of a flow since a position, waiting for one up to `wait_ms`. Empty when there was none in time, and
    /// at once when the flow has ended.
    async fn next_flow_events(&self, args: FlowEventsArgs, wait_ms: u64) -> Answer<FlowEventsPage>;
}
