//! The room of leases, over the model.

use async_trait::async_trait;
use ff_core::backend::{Answer, LeaseRoom};
use ff_core::contracts::{ClaimArgs, Claimed, Claims, RenewArgs, Renewed, RevokeArgs, Revoked, Task};

use crate::execution::payload_of;
use crate::signal::handed;
use crate::{MemoryBackend, flow};

#[async_trait]
impl LeaseRoom for MemoryBackend {
    async fn claim(&self, args: ClaimArgs) -> Answer<Claims> {
        let mut model = self.model()?;
        let taken = self.perform(&mut model, args)?;
        let with_payload = |task: Task| {
            let payload = payload_of(&model, &task.execution_id)?;
            let signals = task.resumption.as_ref().map_or(Ok(vec![]), |r| handed(&model, &task.execution_id, r))?;
            let passed = task.flow.as_ref().filter(|flow| flow.inputs > 0);
            let inputs = passed.map_or(vec![], |of| flow::handed(&model, &of.flow_id, &task.execution_id));
            Ok(Claimed { task, payload, signals, inputs })
        };
        Ok(Claims { claimed: taken.tasks.into_iter().map(with_payload).collect::<Answer<_>>()?, next: taken.next })
    }

    async fn renew(&self, args: RenewArgs) -> Answer<Renewed> {
        self.ask(args)
    }

    async fn revoke(&self, args: RevokeArgs) -> Answer<Revoked> {
        self.ask(args)
    }
}
