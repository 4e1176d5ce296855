//! The room of leases, on SQLite.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};

use crate::SqliteBackend;

#[async_trait]
impl LeaseRoom for SqliteBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        self.writer.asker.claim(args).await
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.writer.asker.ask(args).await
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.writer.asker.ask(args).await
    }
}
