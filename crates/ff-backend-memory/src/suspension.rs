//! The domain of suspensions, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::clock::Clock;
use ff_core::contracts::{PartitionKids, WaitpointInfo};
use ff_core::engine_error::Code;
use ff_core::query::{JudgeToken, ListKids, ListWaitpoints, MintToken, ReadKeyRing};
use ff_core::suspension::WaitpointState;
use ff_core::token::{KeyRing, WaitpointToken};
use ff_core::view::View;

use crate::MemoryBackend;

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

impl Handle<JudgeToken, ()> for MemoryBackend {
    async fn handle(
        &self,
        JudgeToken { execution_id: ref id, waitpoint_id: ref waitpoint, ref shown }: JudgeToken,
    ) -> Answer<()> {
        let (model, now) = (self.model()?, self.clock.now());
        let found = model.waitpoints(id).find(|known| known.id == *waitpoint).ok_or(Code::InvalidToken)?;
        Ok(found.verify(model.ring(id.partition()).ok().flatten(), shown, now)?)
    }
}

impl Handle<ReadKeyRing, KeyRing> for MemoryBackend {
    async fn handle(&self, _: ReadKeyRing) -> Answer<KeyRing> {
        Ok(self.model()?.key_ring(0))
    }
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

#[cfg(test)]
mod tests {
    use ff_core::backend::Perform;
    use ff_core::contracts::{RotateSecretArgs, Rotated};
    use ff_core::view::View;
    use ff_engine::Orchestration;

    use super::*;

    #[tokio::test]
    async fn every_partition_has_the_same_secret_from_the_start() {
        let store = MemoryBackend::default();
        let model = store.model().unwrap();
        let first = model.ring(0).unwrap().unwrap();
        assert!((1..256).all(|partition| model.ring(partition).unwrap() == Some(first)));
    }

    #[tokio::test]
    async fn a_rotation_reaches_every_partition_and_can_be_repeated() {
        let store = MemoryBackend::default();
        let rotation = RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 1_000).unwrap();
        let first = store.rotate_secret(rotation.clone()).await.unwrap();
        assert!(first.is_complete());
        assert!(first.rotated.iter().all(|(_, rotated)| matches!(rotated, Rotated::Rotated { gc_count: 0, .. })));
        let again = store.rotate_secret(rotation).await.unwrap();
        assert_eq!(again.rotated.len(), 256);
        assert!(again.rotated.iter().all(|(_, rotated)| matches!(rotated, Rotated::Noop { .. })));
        for partition in store.kids().await.unwrap() {
            assert_eq!(partition.kids.current_kid.unwrap().as_str(), "k2");
            assert_eq!(partition.kids.verifying.len(), 1);
        }
    }
}
