//! The domain of streams, over HTTP.

use ff_api::{Limit, StreamQuery, WaitMs};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ReadStreamArgs, StreamPage};

use super::HttpConnection;
use super::error::unreadable;

impl Handle<ReadStreamArgs, StreamPage> for HttpConnection {
    async fn handle(&self, args: ReadStreamArgs) -> Answer<StreamPage> {
        self.frames_within(args, 0).await
    }
}

impl HttpConnection {
    /// Returns a page of the output of an execution, and waits up to `wait_ms` for the first item.
    pub(super) async fn frames_within(&self, args: ReadStreamArgs, wait_ms: u64) -> Answer<StreamPage> {
        args.check()?;
        let query = StreamQuery {
            attempt: args.attempt,
            from: args.from.map(|from| from.to_string()),
            limit: Some(Limit(args.limit)),
            wait_ms: Some(WaitMs(wait_ms)),
        };
        let path = ["executions", &args.execution_id.to_string(), "stream"];
        let page: ff_api::StreamPage = self.get(&path, query, wait_ms).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }
}
