//! The room of leases.

use async_trait::async_trait;

use super::Answer;
use crate::lease::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked};

/// What callers may ask about leases.
#[async_trait]
pub trait LeaseRoom: Send + Sync {
    /// Takes up to `max` executions of one lane on one partition. Answers at once, with what there is.
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims>;

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed>;

    /// Takes an execution from its holder.
    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked>;
}
