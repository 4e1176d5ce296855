//! The room of leases, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};

use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> LeaseRoom for SqlStore<D> {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        self.writer().claim(args).await
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.writer().ask(args).await
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.writer().ask(args).await
    }
}
