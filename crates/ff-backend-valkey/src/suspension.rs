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
    CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult, KeptWaitpoint, ResumeExecutionArgs,
    ResumeExecutionResult, ResumeOpKeys, SuspendExecutionArgs, SuspendOpKeys, WaitpointOpKeys, ff_close_waitpoint,
    ff_create_pending_waitpoint, ff_read_waitpoint_hmac_secrets, ff_read_waitpoints, ff_resume_execution,
    ff_suspend_execution,
};

use crate::ValkeyBackend;

#[async_trait]
impl SuspensionRoom for ValkeyBackend {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        let (args, nonce) = (self.checked(args)?, self.dice.nonce());
        let keys = SuspendOpKeys::of(&args.execution_id);
        let partition = args.execution_id.partition();
        let suspended = self.signing(partition, |ring| {
            let (args, keys) = (SuspendExecutionArgs::new(args.clone(), &ring, &nonce), &keys);
            async move { ff_suspend_execution(&*self.calls, keys, &args).await }
        });
        Ok(suspended.await?.into())
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        let (args, nonce) = (self.checked(args)?, self.dice.nonce());
        let keys = WaitpointOpKeys::of(&args.execution_id);
        let partition = args.execution_id.partition();
        let created = self.signing(partition, |ring| {
            let (args, keys) = (CreatePendingWaitpointArgs::new(args.clone(), &ring, &nonce), &keys);
            async move { ff_create_pending_waitpoint(&*self.calls, keys, &args).await }
        });
        let CreatePendingWaitpointResult::Created(granted) = created.await?;
        Ok(granted)
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        let args = self.checked(args)?;
        let keys = WaitpointOpKeys::of(&args.execution_id);
        let CloseWaitpointResult::Closed(closed) = ff_close_waitpoint(&*self.calls, &keys, &args).await?;
        Ok(closed)
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        let args = ResumeExecutionArgs::new(self.checked(args)?, &self.dice.nonce());
        let keys = ResumeOpKeys::of(&args.asked.execution_id);
        let ResumeExecutionResult::Resumed(resumed) = ff_resume_execution(&*self.calls, &keys, &args).await?;
        Ok(resumed)
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
