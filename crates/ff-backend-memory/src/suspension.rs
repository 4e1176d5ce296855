//! The domain of suspensions, over the model.

use ff_core::backend::clock::Clock;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{PartitionKids, WaitpointInfo};
use ff_core::engine_error::Code;
use ff_core::operation::query::{ListKids, ListWaitpoints, MintToken, ReadKeyRing, VerifyToken};
use ff_core::rule::view::View;
use ff_core::suspension::WaitpointState;
use ff_core::token::{KeyRing, WaitpointToken};

use crate::{MemoryBackend, reads};

impl Handle<ListWaitpoints, Vec<WaitpointInfo>> for MemoryBackend {
    async fn handle(&self, ListWaitpoints { execution_id: ref id }: ListWaitpoints) -> Answer<Vec<WaitpointInfo>> {
        let now = self.clock.now();
        self.look(id, |model, execution| {
            let all = model.waitpoints(id).map(|waitpoint| (waitpoint, execution.waitpoint_state(waitpoint, now)));
            let open = all.filter(|(_, state)| matches!(state, WaitpointState::Pending | WaitpointState::Active));
            let mut open: Vec<_> = open.map(|(waitpoint, state)| WaitpointInfo::of(waitpoint, state)).collect();
            open.sort_by_key(|info| (info.created_at, info.waitpoint_id));
            Ok(open)
        })
    }
}

impl Handle<MintToken, WaitpointToken> for MemoryBackend {
    async fn handle(
        &self,
        MintToken { execution_id: ref id, waitpoint_id: ref waitpoint }: MintToken,
    ) -> Answer<WaitpointToken> {
        self.look(id, |model, _| {
            let found = model.waitpoints(id).find(|known| known.id == *waitpoint);
            Ok(found.ok_or(Code::WaitpointNotFound)?.mint(model.ring(id.partition()).ok().flatten())?)
        })
    }
}

impl Handle<VerifyToken, ()> for MemoryBackend {
    async fn handle(
        &self,
        VerifyToken { execution_id: ref id, waitpoint_id: ref waitpoint, ref token }: VerifyToken,
    ) -> Answer<()> {
        let (model, now) = (self.model()?, self.clock.now());
        let found = model.waitpoints(id).find(|known| known.id == *waitpoint).ok_or(Code::InvalidToken)?;
        Ok(found.verify(model.ring(id.partition()).ok().flatten(), token, now)?)
    }
}

reads! {
    ReadKeyRing => KeyRing: |store, query| store.model()?.key_ring(query.partition);
}

impl Handle<ListKids, Vec<PartitionKids>> for MemoryBackend {
    async fn handle(&self, _: ListKids) -> Answer<Vec<PartitionKids>> {
        let (model, now) = (self.model()?, self.clock.now());
        let kids = |partition| {
            let ring = model.ring(partition).ok().flatten();
            PartitionKids { partition, kids: ring.map(|ring| ring.kids(now)).unwrap_or_default() }
        };
        Ok((0..self.partitions.num_flow_partitions).map(kids).collect())
    }
}
