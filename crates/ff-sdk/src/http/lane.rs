//! The room of lanes, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneRoom};
use ff_core::contracts::{ConfigureLaneArgs, LaneInfo, LanesPage, ListLanesArgs};
use ff_core::types::{LaneId, Namespace};

use super::HttpBackend;
use super::call::unreadable;

#[async_trait]
impl LaneRoom for HttpBackend {
    async fn configure_lane(&self, mut args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        args.check()?;
        args.namespace = self.whose(&args.namespace);
        let lane = args.lane.clone();
        self.post(&["lanes", lane.as_str()], &ff_api::ConfigureLane::of(args), 0).await
    }

    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo> {
        self.get(&["lanes", lane.as_str()], &[("namespace", self.whose(namespace).to_string())], 0).await
    }

    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string()), ("finished", args.finished.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        let page: ff_api::LanesPage = self.get(&["lanes"], &query, 0).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }
}
