//! The domains of workers and leases, over HTTP. The calls of lease holders are generated from the table of calls.

use ff_api::{Limit, WorkersQuery};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ClaimArgs, Claims, ListWorkersArgs, WorkersPage};

use super::HttpConnection;
use super::error::unreadable;

impl Handle<ClaimArgs, Claims> for HttpConnection {
    async fn handle(&self, mut args: ClaimArgs) -> Answer<Claims> {
        args.namespace = self.effective_namespace(&args.namespace);
        let instance = args.holder.worker_instance_id.clone();
        let claims: ff_api::Claims =
            self.post(&["workers", instance.as_str(), "claim"], &ff_api::Claim::of(args), 0).await?;
        claims.into_claims().map_err(unreadable)
    }
}

impl Handle<ListWorkersArgs, WorkersPage> for HttpConnection {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        let query = WorkersQuery { namespace: args.namespace, after: args.after, limit: Some(Limit(args.limit)) };
        self.get(&["workers"], query, 0).await
    }
}
