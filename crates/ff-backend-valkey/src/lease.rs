//! The domain of leases, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    AdmittedClaimArgs, AdmittedClaims, AssignArgs, ClaimArgs, Claims, GrantIssued, GrantRevoked, GrantedClaimArgs,
    GrantedClaims, RenewArgs, RenewedLease, RevokeArgs, RevokedLease, UnassignArgs,
};
use ff_script::lease::{
    ff_claim_admitted, ff_claim_execution, ff_claim_granted, ff_issue_claim_grant, ff_renew_lease,
    ff_revoke_claim_grant, ff_revoke_lease,
};

use crate::ValkeyBackend;
use crate::backend::functions;

impl Handle<ClaimArgs, Claims> for ValkeyBackend {
    async fn handle(&self, args: ClaimArgs) -> Answer<Claims> {
        self.check_answers(args.partition)?;
        Ok(ff_claim_execution(&*self.calls, args, &self.entropy.nonce()).await?)
    }
}

functions! {
    AdmittedClaimArgs => AdmittedClaims: |store, args| ff_claim_admitted(&*store.calls, args, &store.entropy.nonce());
    RenewArgs => RenewedLease: |store, args| ff_renew_lease(&*store.calls, args);
    RevokeArgs => RevokedLease: |store, args| ff_revoke_lease(&*store.calls, args);
    AssignArgs => GrantIssued: |store, args| ff_issue_claim_grant(&*store.calls, args);
    UnassignArgs => GrantRevoked: |store, args| ff_revoke_claim_grant(&*store.calls, args);
}

impl Handle<GrantedClaimArgs, GrantedClaims> for ValkeyBackend {
    async fn handle(&self, args: GrantedClaimArgs) -> Answer<GrantedClaims> {
        let (claims, count) = ff_claim_granted(&*self.calls, args, &self.entropy.nonce()).await?;
        Ok(GrantedClaims { claims, count })
    }
}
