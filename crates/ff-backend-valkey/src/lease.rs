//! The room of leases, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};
use ff_script::lease::{ff_claim_execution, ff_renew_lease, ff_revoke_lease};

use crate::ValkeyBackend;

#[async_trait]
impl LeaseRoom for ValkeyBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        Ok(ff_claim_execution(&*self.calls, self.checked(args)?, &self.dice.nonce()).await?)
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        Ok(ff_renew_lease(&*self.calls, self.checked(args)?).await?)
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        Ok(ff_revoke_lease(&*self.calls, self.checked(args)?).await?)
    }
}
