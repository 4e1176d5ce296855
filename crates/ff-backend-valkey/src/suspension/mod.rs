//! The domain of suspensions, on Valkey.

pub(crate) mod secrets;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs,
    ResumedExecution, SuspendArgs, SuspendedExecution, WaitpointInfo,
};
use ff_core::engine_error::Code;
use ff_core::operation::query::{ListKids, ListWaitpoints, MintToken};
use ff_core::token::WaitpointToken;
use ff_script::suspension::{
    KeptWaitpoint, SignedSuspension, close_waitpoint, create_signed_waitpoint, ff_read_waitpoint_hmac_secrets,
    ff_read_waitpoints, resume_by_operator, suspend_signed,
};

use crate::ValkeyBackend;
use crate::backend::functions;

impl Handle<SuspendArgs, SuspendedExecution> for ValkeyBackend {
    async fn handle(&self, args: SuspendArgs) -> Answer<SuspendedExecution> {
        let nonce = self.entropy.nonce();
        let suspended = self.signing(args.execution_id.partition(), |ring| {
            let signed = SignedSuspension::new(args.clone(), &ring, &nonce);
            async move { suspend_signed(&*self.calls, &signed).await }
        });
        suspended.await
    }
}

impl Handle<CreateWaitpointArgs, GrantedWaitpoint> for ValkeyBackend {
    async fn handle(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        let nonce = self.entropy.nonce();
        let created = self.signing(args.execution_id.partition(), |ring| {
            let (args, nonce) = (&args, &nonce);
            async move { create_signed_waitpoint(&*self.calls, args, &ring, nonce).await }
        });
        created.await
    }
}

functions! {
    ListKids => Vec<PartitionKids>: |store, _| store.all_kids();
    CloseWaitpointArgs => ClosedWaitpoint: |store, args| close_waitpoint(&*store.calls, &args);
    ResumeArgs => ResumedExecution: |store, args| resume_by_operator(&*store.calls, &args, &store.entropy.nonce());
}

impl Handle<ListWaitpoints, Vec<WaitpointInfo>> for ValkeyBackend {
    async fn handle(&self, ListWaitpoints { execution_id: ref id }: ListWaitpoints) -> Answer<Vec<WaitpointInfo>> {
        let open = ff_read_waitpoints(&*self.calls, id, None, true).await?;
        let info = |KeptWaitpoint { waitpoint, state, buffered, .. }: &KeptWaitpoint| WaitpointInfo {
            buffered: buffered.len(),
            ..WaitpointInfo::of(waitpoint, *state)
        };
        let mut open: Vec<_> = open.iter().map(info).collect();
        open.sort_by_key(|info| (info.created_at, info.waitpoint_id));
        Ok(open)
    }
}

impl Handle<MintToken, WaitpointToken> for ValkeyBackend {
    async fn handle(
        &self,
        MintToken { execution_id: ref id, waitpoint_id: ref waitpoint }: MintToken,
    ) -> Answer<WaitpointToken> {
        let found = ff_read_waitpoints(&*self.calls, id, Some(waitpoint), false).await?.pop();
        let waitpoint = found.ok_or(Code::WaitpointNotFound)?.waitpoint;
        let signing = ff_read_waitpoint_hmac_secrets(&*self.calls, id.partition()).await?;
        Ok(waitpoint.mint(signing.as_ref().map(|signing| &signing.ring))?)
    }
}
