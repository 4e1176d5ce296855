//! The room of leases, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{
    AllotArgs, ClaimArgs, Claims, GrantedClaimArgs, RenewArgs, Renewed, RevokeArgs, Revoked, SettleLaneArgs,
};
use ff_core::lane::seek_grant;
use ff_script::lane::ff_settle_lane;
use ff_script::lease::{ff_claim_execution, ff_claim_granted, ff_renew_lease, ff_revoke_lease};

use crate::ValkeyBackend;

#[async_trait]
impl LeaseRoom for ValkeyBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        let args = self.checked(args)?;
        self.check_answers(args.partition)?;
        let claims = ff_claim_execution(&*self.calls, args.clone(), &self.dice.nonce()).await?;
        if claims.limited { self.claim_with_leave(args).await } else { Ok(claims) }
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        Ok(ff_renew_lease(&*self.calls, self.checked(args)?).await?)
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        Ok(ff_revoke_lease(&*self.calls, self.checked(args)?).await?)
    }
}

impl ValkeyBackend {
    /// Claims from a lane with a limit, with the leave of the lane's home.
    async fn claim_with_leave(&self, args: ClaimArgs) -> Answer<Claims> {
        let Some(grant) = seek_grant(self, &AllotArgs::of(&args)).await? else {
            return Ok(Claims { claimed: vec![], next: None, limited: true });
        };
        let (namespace, lane) = (args.namespace.clone(), args.lane.clone());
        let granted = GrantedClaimArgs { claim: args, grant };
        let (claims, count) = ff_claim_granted(&*self.calls, granted, &self.dice.nonce()).await?;
        // What was claimed is claimed, whether or not home hears of it now; a later count tells.
        let counted = SettleLaneArgs { namespace, lane, counts: vec![count] };
        if let Err(error) = ff_settle_lane(&*self.calls, &self.partitions, &counted).await {
            tracing::warn!(%error, "a lane's home was not told what was claimed");
        }
        Ok(claims)
    }
}
