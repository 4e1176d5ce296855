//! The domains of an operator over HTTP: keys, lanes, workers, events, the doctor; and claims.

use ff_api::DoctorReport;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    ClaimArgs, Claims, CreateKeyArgs, CreatedKey, EventsArgs, EventsPage, KeysPage, LaneInfo, LanesPage, ListKeysArgs,
    ListLanesArgs, ListWorkersArgs, RevokeKeyArgs, RevokedKey, WorkersPage,
};
use ff_core::query::DescribeLane;

use super::HttpBackend;
use super::call::unreadable;

impl Handle<CreateKeyArgs, CreatedKey> for HttpBackend {
    async fn handle(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        let new: ff_api::NewKey = self.post(&["keys"], &ff_api::CreateKey::of(args), 0).await?;
        Ok(new.created)
    }
}

impl Handle<RevokeKeyArgs, RevokedKey> for HttpBackend {
    async fn handle(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.post(&["keys", args.key_id.as_str(), "revoke"], &ff_api::RevokeKey {}, 0).await
    }
}

impl Handle<ListKeysArgs, KeysPage> for HttpBackend {
    async fn handle(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["keys"], &query, 0).await
    }
}

impl Handle<DescribeLane, LaneInfo> for HttpBackend {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        self.get(&["lanes", lane.as_str()], &[("namespace", self.whose(namespace).to_string())], 0).await
    }
}

impl Handle<ListLanesArgs, LanesPage> for HttpBackend {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        let mut query = vec![("limit", args.limit.to_string()), ("finished", args.finished.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        let page: ff_api::LanesPage = self.get(&["lanes"], &query, 0).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }
}

impl Handle<ClaimArgs, Claims> for HttpBackend {
    async fn handle(&self, mut args: ClaimArgs) -> Answer<Claims> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.holder.worker_instance_id.clone();
        let claims: ff_api::Claims =
            self.post(&["workers", instance.as_str(), "claim"], &ff_api::Claim::of(args), 0).await?;
        claims.into_claims().map_err(|refusal| unreadable(&refusal))
    }
}

impl Handle<ListWorkersArgs, WorkersPage> for HttpBackend {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["workers"], &query, 0).await
    }
}

impl Handle<EventsArgs, EventsPage> for HttpBackend {
    async fn handle(&self, args: EventsArgs) -> Answer<EventsPage> {
        self.events_within(args, 0).await
    }
}

impl HttpBackend {
    /// What happened, waiting for something up to `wait_ms`.
    pub(super) async fn events_within(&self, args: EventsArgs, wait_ms: u64) -> Answer<EventsPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string()), ("wait_ms", wait_ms.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.execution.map(|id| ("execution_id", id.to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["events"], &query, wait_ms).await
    }
}

impl HttpBackend {
    /// Has the server check the invariants on one partition of its store.
    pub async fn examine_partition(&self, partition: u16) -> Answer<DoctorReport> {
        self.get(&["doctor"], &[("partition", partition.to_string())], 0).await
    }
}
