//! The domain of lanes, over HTTP.

use ff_api::{LanesQuery, Limit, NamespaceQuery};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::operation::query::DescribeLane;

use super::HttpConnection;
use super::error::unreadable;

impl Handle<DescribeLane, LaneInfo> for HttpConnection {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        self.get(&["lanes", lane.as_str()], NamespaceQuery { namespace: Some(namespace.clone()) }, 0).await
    }
}

impl Handle<ListLanesArgs, LanesPage> for HttpConnection {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        let query = LanesQuery {
            namespace: args.namespace,
            after: args.after.map(|after| after.to_string()),
            limit: Some(Limit(args.limit)),
            finished: Some(args.finished),
        };
        let page: ff_api::LanesPage = self.get(&["lanes"], query, 0).await?;
        page.into_page().map_err(unreadable)
    }
}
