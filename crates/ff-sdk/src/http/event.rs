//! The domain of events, over HTTP.

use ff_api::{EventsQuery, Limit, WaitMs};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{EventsArgs, EventsPage};

use super::HttpConnection;

impl Handle<EventsArgs, EventsPage> for HttpConnection {
    async fn handle(&self, args: EventsArgs) -> Answer<EventsPage> {
        self.events_within(args, 0).await
    }
}

impl HttpConnection {
    /// Returns a page of events, and waits up to `wait_ms` for the first one.
    pub(super) async fn events_within(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        args.check()?;
        let query = EventsQuery {
            after: args.after.map(|after| after.to_string()),
            namespace: args.namespace,
            execution_id: args.execution,
            limit: Some(Limit(args.limit)),
            wait_ms: Some(WaitMs(wait_ms)),
        };
        self.get(&["events"], query, wait_ms).await
    }
}
