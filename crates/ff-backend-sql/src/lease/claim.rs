//! Claiming, with everything that comes with what was claimed; from a lane with a limit, with the leave of its home.

use ff_core::backend::Answer;
use ff_core::contracts::{AllotArgs, ClaimArgs, Claimed, Claims, GrantedClaimArgs, SettleLaneArgs, Taken};
use ff_core::lane::seek_grant;

use crate::batch::Brought;
use crate::queue::Asker;

impl Asker {
    /// Claims, and gives what was claimed with its payloads.
    pub async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        let (taken, brought) = self.ask_with_brought(args.clone()).await?;
        if !taken.limited {
            return Ok(claims(taken, brought));
        }
        let Some(grant) = seek_grant(self, &AllotArgs::of(&args)).await? else {
            return Ok(Claims { claimed: vec![], next: None, limited: true });
        };
        let (namespace, lane) = (args.namespace.clone(), args.lane.clone());
        let (granted, brought) = self.ask_with_brought(GrantedClaimArgs { claim: args, grant }).await?;
        // What was claimed is claimed, whether or not home hears of it now; a later count tells.
        if let Err(error) = self.ask(SettleLaneArgs { namespace, lane, counts: vec![granted.count] }).await {
            tracing::warn!(%error, "a lane's home was not told what was claimed");
        }
        Ok(claims(granted.taken, brought))
    }
}

fn claims(taken: Taken, brought: Vec<Brought>) -> Claims {
    let claimed = taken.tasks.into_iter().zip(brought);
    let claimed =
        claimed.map(|(task, Brought { payload, signals, inputs })| Claimed { task, payload, signals, inputs });
    Claims { claimed: claimed.collect(), next: taken.next, limited: taken.limited }
}
