//! The room of leases, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};

use super::HttpBackend;
use super::call::unreadable;

#[async_trait]
impl LeaseRoom for HttpBackend {
    async fn claim(&self, mut args: ClaimArgs) -> Answer<Claims> {
        args.check()?;
        args.namespace = self.whose(&args.namespace);
        let instance = args.holder.worker_instance_id.clone();
        let claims: ff_api::Claims =
            self.post(&["workers", instance.as_str(), "claim"], &ff_api::Claim::of(args), 0).await?;
        claims.into_claims().map_err(|refusal| unreadable(&refusal))
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        args.check()?;
        self.ask(args.execution_id, "renew", ff_api::Renew::of(args)).await
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        args.check()?;
        self.ask(args.execution_id, "revoke", ff_api::Revoke::of(args)).await
    }
}
