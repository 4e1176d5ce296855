//! The domain of signals, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage, ReceivedSignal, Resumption, SignalsArgs, SignalsPage};
use ff_core::engine_error::{Code, EngineError};
use ff_core::model::Model;
use ff_core::query::ReadSignal;
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

/// The signals a worker is handed with its claim: all of them, the first ones with their bytes.
pub(crate) fn handed(model: &Model, id: &ExecutionId, resumption: &Resumption) -> Answer<Vec<ReceivedSignal>> {
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

#[cfg(test)]
mod tests {
    use ff_core::backend::Perform;
    use ff_core::contracts::{ClaimArgs, Claimed, DeliverArgs, SubmitArgs, SuspendArgs, WaitpointRef};
    use ff_core::lease::Holder;
    use ff_core::payload::Payload;
    use ff_core::token::PresentedToken;
    use ff_core::types::{Kind, SignalName, WaitpointKey};

    use super::*;

    async fn claim(store: &MemoryBackend, id: ExecutionId) -> Claimed {
        let args = ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap());
        store.claim(args).await.unwrap().claimed.remove(0)
    }

    #[tokio::test]
    async fn a_resumed_worker_is_handed_what_resumed_it_and_readers_are_told() {
        let store = MemoryBackend::default();
        let work = SubmitArgs::new(Kind::parse("approve").unwrap(), Payload::json("1"));
        let id = store.submit(work).await.unwrap().execution_id;
        let first = claim(&store, id).await;
        assert!(first.signals.is_empty());
        let tail = store.deliveries(DeliveriesArgs { after: None, limit: 10 }).await.unwrap();
        assert_eq!(tail.deliveries, []);

        let args = SuspendArgs::new(id, first.task.fence, WaitpointKey::parse("approval").unwrap());
        let granted = store.suspend(args).await.unwrap().waitpoints.remove(0);
        assert_eq!(store.waitpoints(&id).await.unwrap().len(), 1);
        let token = store.waitpoint_token(&id, &granted.waitpoint_id).await.unwrap();
        let name = SignalName::parse("approved").unwrap();
        let to = WaitpointRef::Id(granted.waitpoint_id);
        let signal = DeliverArgs {
            payload: Some(Payload::json("\"yes\"")),
            ..DeliverArgs::new(id, to, PresentedToken::from(&token), name)
        };
        let delivered = store.deliver(signal).await.unwrap();
        assert_eq!(store.waitpoints(&id).await.unwrap(), []);

        let resumed = claim(&store, id).await;
        let [handed] = &resumed.signals[..] else { panic!("not one signal") };
        assert_eq!(handed.payload, Some(Payload::json("\"yes\"")));
        assert_eq!(store.signal(&id, &delivered.signal_id).await.unwrap(), *handed);
        let page = SignalsArgs { execution_id: id, skip: 0, limit: 1 };
        assert_eq!(
            store.signals(page).await.unwrap(),
            SignalsPage { signals: vec![handed.signal.clone()], next: None }
        );

        let news = store.deliveries(DeliveriesArgs { after: Some(tail.next), limit: 10 }).await.unwrap();
        assert_eq!(news.deliveries.iter().map(|told| told.signal_id).collect::<Vec<_>>(), [delivered.signal_id]);
        let after = Some(news.next);
        assert_eq!(store.deliveries(DeliveriesArgs { after, limit: 10 }).await.unwrap().deliveries, []);
    }
}
