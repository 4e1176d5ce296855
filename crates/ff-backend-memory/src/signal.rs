//! The domain of signals, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage, ReceivedSignal, Resumption, SignalsArgs, SignalsPage};
use ff_core::engine_error::{Code, EngineError};
use ff_core::model::Model;
use ff_core::operation::query::ReadSignal;
use ff_core::signal::FeedCursor;
use ff_core::types::{ExecutionId, SignalId};

use crate::MemoryBackend;

impl Handle<SignalsArgs, SignalsPage> for MemoryBackend {
    async fn handle(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        self.look(&args.execution_id, |model, _| {
            let all = model.signals(&args.execution_id);
            let signals: Vec<_> = all.iter().skip(args.skip).take(args.limit).cloned().collect();
            let reached = args.skip.saturating_add(signals.len());
            Ok(SignalsPage { signals, next: (reached < all.len()).then_some(reached) })
        })
    }
}

impl Handle<ReadSignal, ReceivedSignal> for MemoryBackend {
    async fn handle(
        &self,
        ReadSignal { execution_id: ref id, signal_id: ref signal }: ReadSignal,
    ) -> Answer<ReceivedSignal> {
        self.look(id, |model, _| received(model, id, signal).ok_or_else(|| Code::NotFound.into()))
    }
}

impl Handle<DeliveriesArgs, DeliveriesPage> for MemoryBackend {
    async fn handle(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        let model = self.model()?;
        let partitions = 0..self.partitions.num_flow_partitions;
        let Some(after) = args.after else {
            let ends = partitions.filter_map(|partition| Some((partition, model.feed_end(partition)?)));
            let next = FeedCursor(ends.collect());
            return Ok(DeliveriesPage { deliveries: vec![], next, missed: false });
        };
        let parts: Vec<_> = partitions
            .map(|partition| {
                let reached = after.0.get(&partition).copied();
                (partition, model.deliveries(partition, reached, args.limit))
            })
            .collect();
        Ok(DeliveriesPage::merge(after, parts, args.limit))
    }
}

/// Returns the signals that a claim brings: all of them, the first ones with their payloads.
pub(crate) fn resumption_signals(
    model: &Model,
    id: &ExecutionId,
    resumption: &Resumption,
) -> Answer<Vec<ReceivedSignal>> {
    let lost = |signal: &SignalId| EngineError::Corrupt(format!("{id} has lost the signal {signal}"));
    let hand = |(nth, signal): (usize, &SignalId)| {
        let mut received = received(model, id, signal).ok_or_else(|| lost(signal))?;
        received.payload = received.payload.filter(|_| nth < resumption.with_payload);
        Ok(received)
    };
    resumption.signals.iter().enumerate().map(hand).collect()
}

fn received(model: &Model, id: &ExecutionId, signal: &SignalId) -> Option<ReceivedSignal> {
    let signal = model.signals(id).iter().find(|known| known.id == *signal)?;
    let payload = model.signal_payload(id, &signal.id).cloned();
    Some(ReceivedSignal { signal: signal.clone(), payload })
}
