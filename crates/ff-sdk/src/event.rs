//! Live events of executions.

use std::collections::VecDeque;

use ff_core::contracts::{EventsArgs, EventsPage};
use ff_core::event::{EventCursor, EventRecord};
use ff_core::limits;
use ff_core::signal::Position;
use ff_core::types::{ExecutionId, Namespace};
use futures_util::Stream;
use futures_util::stream::unfold;

use crate::{Client, Error};

impl Client {
    /// Follows the events of all executions, in one namespace or in all, after a cursor. Without a cursor it starts
    /// now: every event after this call has returned is included.
    pub async fn events(&self, namespace: Option<&Namespace>, after: Option<EventCursor>) -> Result<Events, Error> {
        self.follow(EventsArgs { after, namespace: namespace.cloned(), execution: None, limit: limits::PAGE }).await
    }

    /// Follows the events of one execution after a cursor. Without a cursor it starts now: every event after this call
    /// has returned is included. To wait for the end only, use [`Client::wait`].
    pub async fn events_of(&self, id: &ExecutionId, after: Option<EventCursor>) -> Result<Events, Error> {
        self.follow(EventsArgs { after, namespace: None, execution: Some(*id), limit: limits::PAGE }).await
    }

    async fn follow(&self, mut args: EventsArgs) -> Result<Events, Error> {
        let next = match args.after.take() {
            Some(cursor) => cursor,
            None => self.backend().events(EventsArgs { limit: 1, ..args.clone() }).await?.next,
        };
        Ok(Events { client: self.clone(), args, read: next.clone(), next, events: VecDeque::new(), missed: false })
    }
}

/// An endless sequence of execution events, oldest first.
pub struct Events {
    client: Client,
    /// The query, without its cursor.
    args: EventsArgs,
    /// The cursor of the next page.
    next: EventCursor,
    /// The cursor after the last event returned.
    read: EventCursor,
    events: VecDeque<EventRecord>,
    missed: bool,
}

impl Events {
    /// Waits for the next event, without a time limit. After an error it can be called again, and continues at the same place.
    pub async fn next(&mut self) -> Result<EventRecord, Error> {
        loop {
            if let Some(record) = self.take() {
                return Ok(record);
            }
            let page = self.ask(limits::LONG_POLL_MS).await?;
            self.enter(page);
        }
    }

    /// Returns the next event without waiting; `None` when all events so far have been returned.
    pub async fn next_if_any(&mut self) -> Result<Option<EventRecord>, Error> {
        if self.events.is_empty() {
            let page = self.ask(0).await?;
            self.enter(page);
        }
        Ok(self.take())
    }

    /// Returns the cursor after the last event returned, for continuing now or after a restart.
    pub fn cursor(&self) -> &EventCursor {
        if self.events.is_empty() { &self.next } else { &self.read }
    }

    /// Returns true when events may have been missed since the last call of this method: they were deleted, or were not
    /// recorded because the feed had no reader.
    pub fn missed(&mut self) -> bool {
        std::mem::take(&mut self.missed)
    }

    /// Converts this into a stream, which ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<EventRecord, Error>> + Send {
        unfold(Some(self), |events| async move {
            let mut events = events?;
            let next = events.next().await;
            let rest = next.is_ok().then_some(events);
            Some((next, rest))
        })
    }

    async fn ask(&self, wait_ms: u64) -> Result<EventsPage, Error> {
        let args = EventsArgs { after: Some(self.next.clone()), ..self.args.clone() };
        Ok(self.client.long_poll().next_events(args, wait_ms).await?)
    }

    fn enter(&mut self, page: EventsPage) {
        self.missed |= page.missed;
        self.read = std::mem::replace(&mut self.next, page.next);
        self.events = page.events.into();
    }

    fn take(&mut self) -> Option<EventRecord> {
        let record = self.events.pop_front()?;
        let place = Position { nth: record.position.nth + 1, ..record.position };
        self.read.places.insert(record.execution_id.partition(), place);
        Some(record)
    }
}
