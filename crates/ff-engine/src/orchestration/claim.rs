//! Claims over several partitions: a lane with a limit needs a grant of its home, and work under quotas needs admission.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{AllotArgs, ClaimArgs, Claims, GrantedClaimArgs, SettleLaneArgs};

use super::lane::seek_grant;
use super::quota::{self, QuotaProgress};

pub(super) async fn claim<S: EngineStore + ?Sized>(store: &S, args: ClaimArgs) -> Answer<Claims> {
    let mut retries = 0;
    loop {
        let (claims, progress) = claim_once(store, args.clone()).await?;
        retries += usize::from(progress.left_ready);
        // An empty answer means that nothing is ready. So the claim runs again if executions were blocked, because others may be
        // queued behind them, or if listed executions were left ready.
        let is_more = progress.blocked > 0 || progress.left_ready && retries <= RETRIES;
        if !claims.claimed.is_empty() || !is_more {
            return Ok(claims);
        }
    }
}

/// Maximum number of retries of a claim that left listed executions ready.
const RETRIES: usize = 3;

/// Claims once. Also returns the outcome for listed executions that were not claimed.
async fn claim_once<S: EngineStore + ?Sized>(store: &S, args: ClaimArgs) -> Answer<(Claims, QuotaProgress)> {
    let plain = store.claim(args.clone()).await?;
    let is_limited = plain.limited;
    let claims = if is_limited { claim_with_grant(store, args.clone()).await? } else { plain };
    if claims.admissions.is_empty() {
        return Ok((claims, QuotaProgress::default()));
    }
    quota::claim_listed(store, args, claims, is_limited).await
}

async fn claim_with_grant<S: EngineStore + ?Sized>(store: &S, args: ClaimArgs) -> Answer<Claims> {
    let Some(grant) = seek_grant(store, &AllotArgs::of(&args)).await? else {
        return Ok(Claims { limited: true, ..Claims::default() });
    };
    let (namespace, lane) = (args.namespace.clone(), args.lane.clone());
    let granted = store.claim_granted(GrantedClaimArgs { claim: args, grant }).await?;
    // The claim stands even if this report does not reach the lane's home; a later count corrects it.
    if let Err(error) = store.settle_lane(SettleLaneArgs { namespace, lane, counts: vec![granted.count] }).await {
        tracing::warn!(%error, "the claims could not be reported to the home partition of the lane");
    }
    Ok(granted.claims)
}
