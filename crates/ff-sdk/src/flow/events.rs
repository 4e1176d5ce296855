//! Live events of a flow.

use std::collections::VecDeque;

use ff_core::contracts::FlowEventsArgs;
use ff_core::flow::FlowEvent;
use ff_core::limits;
use ff_core::types::FlowId;
use futures_util::Stream;
use futures_util::stream::unfold;

use crate::{Client, Error};

/// The events of a flow from a sequence number on, oldest first. They end when the flow has ended.
pub struct FlowEvents {
    client: Client,
    flow_id: FlowId,
    /// The number of the next event to fetch.
    from: u64,
    events: VecDeque<FlowEvent>,
    ended: bool,
    missed: bool,
}

impl FlowEvents {
    pub(super) fn new(client: Client, flow_id: FlowId, from: u64) -> Self {
        Self { client, flow_id, from, events: VecDeque::new(), ended: false, missed: false }
    }

    /// Waits for the next event, without a time limit; `None` once the flow has ended and all events are read. After an
    /// error it can be called again, and continues at the same place.
    pub async fn next(&mut self) -> Option<Result<FlowEvent, Error>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if self.ended {
                return None;
            }
            let args = FlowEventsArgs { flow_id: self.flow_id, from: self.from, limit: limits::PAGE };
            match self.client.long_poll().next_flow_events(args, limits::LONG_POLL_MS).await {
                Ok(page) => {
                    self.from = page.next;
                    self.missed |= page.missed;
                    self.ended = page.ended;
                    self.events = page.events.into();
                }
                Err(error) => return Some(Err(error.into())),
            }
        }
    }

    /// Returns true when events were deleted before they could be read.
    pub fn missed(&self) -> bool {
        self.missed
    }

    /// Converts this into a stream, which ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<FlowEvent, Error>> + Send {
        unfold(Some(self), |events| async move {
            let mut events = events?;
            let next = events.next().await?;
            let rest = next.is_ok().then_some(events);
            Some((next, rest))
        })
    }
}
