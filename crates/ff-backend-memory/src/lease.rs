//! The room of leases, over the model.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneSteps, LeaseRoom};
use ff_core::contracts::{
    AllotArgs, ClaimArgs, Claimed, Claims, GrantedClaimArgs, RenewArgs, Renewed, RevokeArgs, Revoked, SettleLaneArgs,
    Taken, Task,
};
use ff_core::lane::seek_grant;
use ff_core::model::Model;

use crate::execution::payload_of;
use crate::signal::handed;
use crate::{MemoryBackend, flow};

#[async_trait]
impl LeaseRoom for MemoryBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        {
            let mut model = self.model()?;
            let taken = self.perform(&mut model, args.clone())?;
            if !taken.limited {
                return claims(&model, taken);
            }
        }
        let Some(grant) = seek_grant(self, &AllotArgs::of(&args)).await? else {
            return Ok(Claims { claimed: vec![], next: None, limited: true });
        };
        let (namespace, lane) = (args.namespace.clone(), args.lane.clone());
        let (handed, count) = {
            let mut model = self.model()?;
            let granted = self.perform(&mut model, GrantedClaimArgs { claim: args, grant })?;
            (claims(&model, granted.taken)?, granted.count)
        };
        self.settle(SettleLaneArgs { namespace, lane, counts: vec![count] }).await?;
        Ok(handed)
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.ask(args)
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.ask(args)
    }
}

/// What was taken, with everything that goes with it.
fn claims(model: &Model, taken: Taken) -> Answer<Claims> {
    let with_payload = |task: Task| {
        let payload = payload_of(model, &task.execution_id)?;
        let signals = task.resumption.as_ref().map_or(Ok(vec![]), |r| handed(model, &task.execution_id, r))?;
        let passed = task.flow.as_ref().filter(|flow| flow.inputs > 0);
        let inputs = passed.map_or(vec![], |of| flow::handed(model, &of.flow_id, &task.execution_id));
        Ok(Claimed { task, payload, signals, inputs })
    };
    let claimed = taken.tasks.into_iter().map(with_payload).collect::<Answer<_>>()?;
    Ok(Claims { claimed, next: taken.next, limited: taken.limited })
}
