//! The domain of events, over HTTP.

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
        let mut query = vec![("limit", args.limit.to_string()), ("wait_ms", wait_ms.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.effective_namespace(&namespace).to_string())));
        query.extend(args.execution.map(|id| ("execution_id", id.to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["events"], &query, wait_ms).await
    }
}
