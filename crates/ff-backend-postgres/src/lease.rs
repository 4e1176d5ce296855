//! The room of leases, on Postgres.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};

use crate::PostgresBackend;

#[async_trait]
impl LeaseRoom for PostgresBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        self.writers.asker.claim(args).await
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.writers.asker.ask(args).await
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.writers.asker.ask(args).await
    }
}
