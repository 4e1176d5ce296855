//! The domain of lanes, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::query::DescribeLane;

use crate::MemoryBackend;

impl Handle<DescribeLane, LaneInfo> for MemoryBackend {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        Ok(self.model()?.lane_info(&lane.within(namespace)))
    }
}

impl Handle<ListLanesArgs, LanesPage> for MemoryBackend {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        Ok(self.model()?.lanes(&args))
    }
}

#[cfg(test)]
mod tests {
    use ff_core::backend::{EngineStore, Perform};
    use ff_core::contracts::{
        ClaimArgs, Claimed, CompleteArgs, ConfigureLaneArgs, LaneStanding, RecountLaneArgs, Setting, SettleLaneArgs,
        SubmitArgs,
    };
    use ff_core::lane::LaneState;
    use ff_core::lease::Holder;
    use ff_core::payload::Payload;
    use ff_core::types::{Kind, LaneId, Namespace};
    use ff_engine::Orchestration;

    use super::*;

    fn mail() -> (Namespace, LaneId) {
        (Namespace::parse("acme").unwrap(), LaneId::parse("mail").unwrap())
    }

    async fn filled(count: usize) -> MemoryBackend {
        let store = MemoryBackend::default();
        let (namespace, lane) = mail();
        let work = || SubmitArgs::new(Kind::parse("send").unwrap(), Payload::json("1"));
        let work = || SubmitArgs { namespace: namespace.clone(), lane: lane.clone(), ..work() };
        store.submit_many((0..count).map(|_| work()).collect()).await.unwrap();
        store
    }

    /// Asks every partition.
    async fn claim_all(store: &MemoryBackend) -> Vec<Claimed> {
        let mut all = Vec::new();
        for partition in 0..256 {
            let (namespace, lane) = mail();
            let holder = Holder::parse("w", "w-1").unwrap();
            let args = ClaimArgs { namespace, lane, max: 10, ..ClaimArgs::new(partition, holder) };
            all.extend(store.claim_within_limit(args).await.unwrap().claimed);
        }
        all
    }

    #[tokio::test]
    async fn a_limit_holds_across_partitions_and_what_ends_makes_room() {
        let store = filled(40).await;
        let (namespace, lane) = mail();
        let args = ConfigureLaneArgs { concurrency: Setting::To(7), ..ConfigureLaneArgs::new(namespace, lane) };
        store.configure_lane(args).await.unwrap();
        let first = claim_all(&store).await;
        assert_eq!(first.len(), 7);
        assert!(claim_all(&store).await.is_empty());
        for claimed in &first[..3] {
            let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
            store.complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
            let (namespace, lane) = mail();
            let partition = execution_id.partition();
            let recount = RecountLaneArgs { partition, namespace: namespace.clone(), lane: lane.clone(), seq: 0 };
            let counts = vec![store.recount_lane(recount).await.unwrap()];
            store.settle_lane(SettleLaneArgs { namespace, lane, counts }).await.unwrap();
        }
        assert_eq!(claim_all(&store).await.len(), 3);
    }

    #[tokio::test]
    async fn lanes_are_listed_with_what_is_where() {
        let store = filled(5).await;
        let (namespace, lane) = mail();
        store
            .configure_lane(ConfigureLaneArgs::state(namespace.clone(), lane.clone(), LaneState::Paused))
            .await
            .unwrap();
        assert!(claim_all(&store).await.is_empty());
        let other = LaneId::parse("unused").unwrap();
        let drain = ConfigureLaneArgs::state(namespace.clone(), other.clone(), LaneState::Draining);
        store.configure_lane(drain).await.unwrap();
        let mut args = ListLanesArgs { namespace: Some(namespace.clone()), after: None, limit: 1, finished: true };
        let first = store.list_lanes(args.clone()).await.unwrap();
        args.after.clone_from(&first.next);
        let second = store.list_lanes(args).await.unwrap();
        let [of_mail, of_other] = [&first.lanes[..], &second.lanes[..]].concat().try_into().unwrap();
        assert_eq!((of_mail.lane_id, of_mail.settings.state), (lane, LaneState::Paused));
        assert_eq!(of_mail.depths[&LaneStanding::Waiting].count, 5);
        assert_eq!((of_other.lane_id.clone(), of_other.depths.len(), second.next), (other, 0, None));
        assert_eq!(store.describe_lane(&namespace, &of_other.lane_id).await.unwrap(), of_other);
        let nobody =
            ListLanesArgs { namespace: Some(Namespace::default_name()), after: None, limit: 9, finished: true };
        assert_eq!(store.list_lanes(nobody).await.unwrap().lanes, []);
    }
}
