//! Predicting the queries of a load: the load runs over a reader that finds nothing and records every query. A store behind a
//! network can then send them all at once, without waiting for each answer.

use async_trait::async_trait;
use ff_core::operation::{Conditions, Operation};
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

use super::QueuedOperation;
use super::misses::{Misses, missed};
use super::registry::load_feeds;
use crate::batch_state::{BatchState, WriterCache};
use crate::error::SqlError;
use crate::session::{Load, Read};
use crate::table::value::Row;

/// Returns the first loads of a batch, for the store's state as the batch before it found it. The loads of a pump depend on the
/// time, so a batch with a pump gets only the loads of feeds.
pub(super) async fn first_loads(
    state: &BatchState,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
    involved: &[u16],
) -> Result<Vec<Load>, SqlError> {
    let mut feeds = PrefetchReader(Vec::new());
    load_feeds(&mut feeds, &mut WriterCache::default(), state.cache.unknown_feeds(involved)).await?;
    if batch.iter().any(|queued_operation| matches!(queued_operation.operation, Operation::Pump(_))) {
        return Ok(feeds.0);
    }
    let at = |nonce| Conditions { partitions: *partitions, nonce, now: TimestampMs::default() };
    let conditions: Vec<_> = batch.iter().map(|queued_operation| at(queued_operation.nonce)).collect();
    let first = match conditions.first() {
        Some(first) => loads_of(&missed(state, batch.iter().zip(&conditions)), first).await?,
        None => Vec::new(),
    };
    Ok([feeds.0, first].concat())
}

/// Returns the first loads for these misses. Loads that depend on an answer are not known yet.
pub(super) async fn loads_of(misses: &Misses, at: &Conditions) -> Result<Vec<Load>, SqlError> {
    let mut prefetch = PrefetchReader(Vec::new());
    misses.clone().load(&mut prefetch, &mut BatchState::default(), at).await?;
    Ok(prefetch.0)
}

/// A reader that finds nothing and records every request.
struct PrefetchReader(Vec<Load>);

#[async_trait]
impl Read for PrefetchReader {
    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError> {
        let (Load::Rows(_, _, sets) | Load::Query(_, sets)) = &request;
        let nothing = vec![Vec::new(); sets.len()];
        self.0.push(request);
        Ok(nothing)
    }
}

#[cfg(test)]
mod tests {
    use ff_core::backend::entropy::{Entropy, SeededEntropy};
    use ff_core::contracts::{ClaimArgs, CompleteArgs, EdgeSpec, FlowHeader, NodeSpec, PumpArgs, SubmitFlowArgs};
    use ff_core::execution::{Execution, Phase};
    use ff_core::lease::{Fence, Holder};
    use ff_core::model::Model;
    use ff_core::payload::Payload;
    use ff_core::types::{AttemptId, ExecutionId, LeaseEpoch, LeaseId, NodeName};
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;
    use crate::flow::queries::EDGES_OUT;
    use crate::queries::EXECUTION_OF;
    use crate::session::{TransactionContext, key_of};
    use crate::table::schema::{FEED, FLOW, LANE};
    use crate::test_conditions::at;

    fn queued_operation(operation: Operation) -> QueuedOperation {
        QueuedOperation { operation, nonce: SeededEntropy::new(1).nonce() }
    }

    fn completion(id: ExecutionId) -> Operation {
        let fence = Fence {
            lease_id: LeaseId::from_uuid(Uuid::nil()),
            lease_epoch: LeaseEpoch(1),
            attempt_id: AttemptId::from_uuid(Uuid::nil()),
        };
        Operation::Complete(CompleteArgs { execution_id: id, fence, result: None })
    }

    fn claim() -> Operation {
        Operation::Claim(ClaimArgs {
            kinds: Vec::new(),
            ..ClaimArgs::new(3, Holder { worker_id: "w".parse().unwrap(), worker_instance_id: "w-1".parse().unwrap() })
        })
    }

    /// Returns the first loads of a batch of these operations on partition 3, after a batch that began in this context.
    fn loads(after: TransactionContext, operations: Vec<Operation>) -> Vec<Load> {
        let batch: Vec<_> = operations.into_iter().map(queued_operation).collect();
        let mut cache = WriterCache::default();
        cache.note(&after);
        let state = BatchState::with(cache);
        first_loads(&state, &batch, &PartitionConfig::default(), &[3]).now_or_never().unwrap().unwrap()
    }

    const PLAIN: TransactionContext = TransactionContext {
        now: TimestampMs(0),
        is_followed: false,
        has_lanes: false,
        has_quotas: false,
        lock_session: None,
    };

    #[test]
    fn first_loads_are_prefetched_unless_the_batch_pumps() {
        let id = ExecutionId::new(3, Uuid::from_u128(7));
        let first = Load::Query(EXECUTION_OF, vec![key_of(&id)]);
        assert_eq!(loads(PLAIN, vec![completion(id)]), [first]);
        let pump = || Operation::Pump(PumpArgs { partition: 3 });
        assert_eq!(loads(PLAIN, vec![completion(id), pump()]), []);
    }

    /// An answer that was requested ahead is used only for exactly the same request.
    #[test]
    fn the_same_batch_prefetches_the_same_requests() {
        let ids: Vec<_> = (1..20).map(|uuid| ExecutionId::new(3, Uuid::from_u128(uuid))).collect();
        let ask = || loads(PLAIN, ids.iter().copied().map(completion).collect());
        assert_eq!(ask(), ask());
    }

    /// Returns a running member of a flow.
    fn running_member() -> Execution {
        let [first, second] = ["a", "b"].map(|name| NodeName::parse(name).unwrap());
        let node = |name: &NodeName| NodeSpec::new(name.clone(), "k".parse().unwrap(), Payload::default());
        let nodes = vec![node(&first), node(&second)];
        let edges = vec![EdgeSpec { upstream: first, downstream: second, passes: None }];
        let graph = SubmitFlowArgs { header: FlowHeader::new("k".parse().unwrap()), nodes, edges };
        let mut model = Model::default();
        model.execute(&Operation::StageFlow(graph.plan().unwrap().remove(0)), &at(1)).unwrap();
        model.execute(&Operation::Pump(PumpArgs { partition: 0 }), &at(2)).unwrap();
        let Operation::Claim(claim) = claim() else { panic!("not a claim") };
        model.execute(&Operation::Claim(ClaimArgs { partition: 0, ..claim }), &at(3)).unwrap();
        model.executions().find(|execution| matches!(execution.phase, Phase::Running { .. })).unwrap().clone()
    }

    #[test]
    fn a_known_member_is_prefetched_with_its_flow() {
        let running = running_member();
        let (id, mut state) = (running.id, BatchState::default());
        let batch = [queued_operation(completion(id))];
        let asks = |state: &BatchState| {
            let loads = first_loads(state, &batch, &PartitionConfig::default(), &[3]).now_or_never().unwrap().unwrap();
            loads.into_iter().map(|load| match load {
                Load::Rows(table, ..) => table.name,
                Load::Query(sql, _) => sql,
            })
        };
        assert_eq!(Vec::from_iter(asks(&state)), [EXECUTION_OF]);
        state.cache.see(&running);
        assert_eq!(Vec::from_iter(asks(&state)), [EXECUTION_OF, FLOW.name, EDGES_OUT]);
    }

    #[test]
    fn the_feed_is_prefetched_once_it_is_followed() {
        let feed = Load::Rows(&FEED, FEED.named(&["since", "until"]), vec![vec![3_u16.into()]]);
        let followed = TransactionContext { is_followed: true, ..PLAIN };
        let pump = Operation::Pump(PumpArgs { partition: 3 });
        assert_eq!(loads(followed, vec![pump]), [feed]);
    }

    #[test]
    fn lanes_are_prefetched_once_any_exist() {
        let asks = |after: TransactionContext| {
            let loads = loads(after, vec![claim()]);
            loads.iter().map(|load| matches!(load, Load::Rows(table, ..) if **table == LANE)).collect::<Vec<_>>()
        };
        assert_eq!(asks(PLAIN), [false], "what waits, and nothing else");
        assert_eq!(asks(TransactionContext { has_lanes: true, ..PLAIN }), [false, true]);
    }
}
