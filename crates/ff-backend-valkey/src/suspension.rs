//! The room of suspensions, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, SuspensionRoom};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs, Resumed,
    RotateSecretArgs, RotationReport, SuspendArgs, Suspended, WaitpointInfo,
};
use ff_core::engine_error::Code;
use ff_core::operation::check_id;
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId};
use ff_script::suspension::{
    KeptWaitpoint, SignedSuspension, close_waitpoint, create_signed_waitpoint, ff_read_waitpoint_hmac_secrets,
    ff_read_waitpoints, resume_by_operator, suspend_signed,
};

use crate::ValkeyBackend;

#[async_trait]
impl SuspensionRoom for ValkeyBackend {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        let (args, nonce) = (self.checked(args)?, self.dice.nonce());
        let suspended = self.signing(args.execution_id.partition(), |ring| {
            let signed = SignedSuspension::new(args.clone(), &ring, &nonce);
            async move { suspend_signed(&*self.calls, &signed).await }
        });
        suspended.await
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        let (args, nonce) = (self.checked(args)?, self.dice.nonce());
        let created = self.signing(args.execution_id.partition(), |ring| {
            let (args, nonce) = (&args, &nonce);
            async move { create_signed_waitpoint(&*self.calls, args, &ring, nonce).await }
        });
        created.await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        Ok(close_waitpoint(&*self.calls, &self.checked(args)?).await?)
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        Ok(resume_by_operator(&*self.calls, &self.checked(args)?, &self.dice.nonce()).await?)
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        check_id(id, &self.partitions)?;
        let open = ff_read_waitpoints(&*self.calls, id, None, true).await?;
        let info = |KeptWaitpoint { waitpoint, state, buffered, .. }: &KeptWaitpoint| WaitpointInfo {
            buffered: buffered.len(),
            ..WaitpointInfo::of(waitpoint, *state)
        };
        let mut open: Vec<_> = open.iter().map(info).collect();
        open.sort_by_key(|info| (info.created_at, info.waitpoint_id));
        Ok(open)
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        check_id(id, &self.partitions)?;
        let found = ff_read_waitpoints(&*self.calls, id, Some(waitpoint), false).await?.pop();
        let waitpoint = found.ok_or(Code::WaitpointNotFound)?.waitpoint;
        let signing = ff_read_waitpoint_hmac_secrets(&*self.calls, id.partition()).await?;
        Ok(waitpoint.mint(signing.as_ref().map(|signing| &signing.ring))?)
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        args.check()?;
        Ok(self.rotate(&args).await)
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        self.all_kids().await
    }
}
