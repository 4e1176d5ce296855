//! The domain of lanes, over HTTP.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::query::DescribeLane;

use super::HttpConnection;
use super::error::unreadable;

impl Handle<DescribeLane, LaneInfo> for HttpConnection {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        self.get(&["lanes", lane.as_str()], &[("namespace", self.effective_namespace(namespace).to_string())], 0).await
    }
}

impl Handle<ListLanesArgs, LanesPage> for HttpConnection {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        let mut query = vec![("limit", args.limit.to_string()), ("finished", args.finished.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.effective_namespace(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        let page: ff_api::LanesPage = self.get(&["lanes"], &query, 0).await?;
        page.into_page().map_err(unreadable)
    }
}
