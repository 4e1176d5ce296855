//! The room of leases, over HTTP.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ClaimArgs, Claims};

use super::HttpBackend;
use super::call::unreadable;

impl Handle<ClaimArgs, Claims> for HttpBackend {
    async fn handle(&self, mut args: ClaimArgs) -> Answer<Claims> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.holder.worker_instance_id.clone();
        let claims: ff_api::Claims =
            self.post(&["workers", instance.as_str(), "claim"], &ff_api::Claim::of(args), 0).await?;
        claims.into_claims().map_err(|refusal| unreadable(&refusal))
    }
}
