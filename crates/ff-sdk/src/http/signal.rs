//! The domain of signals, over HTTP.

use ff_api::{DeliveriesQuery, Limit, SignalQuery, SignalsQuery, WaitMs};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    DeliverArgs, DeliveredSignal, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use ff_core::operation::query::ReadSignal;

use super::HttpConnection;
use super::error::unreadable;
use super::execution::EXACT;

impl Handle<DeliverArgs, DeliveredSignal> for HttpConnection {
    async fn handle(&self, args: DeliverArgs) -> Answer<DeliveredSignal> {
        let id = args.execution_id.to_string();
        self.post(&["executions", &id, "signals"], &ff_api::Deliver::of(args), 0).await
    }
}

impl Handle<SignalsArgs, SignalsPage> for HttpConnection {
    async fn handle(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        let query = SignalsQuery { skip: Some(args.skip), limit: Some(Limit(args.limit)) };
        self.get(&["executions", &args.execution_id.to_string(), "signals"], query, 0).await
    }
}

impl Handle<ReadSignal, ReceivedSignal> for HttpConnection {
    async fn handle(
        &self,
        ReadSignal { execution_id: ref id, signal_id: ref signal }: ReadSignal,
    ) -> Answer<ReceivedSignal> {
        let (id, signal) = (id.to_string(), signal.to_string());
        let path = ["executions", &id, "signals", &signal];
        let received: ff_api::ReceivedSignal = self.get(&path, SignalQuery { encoding: EXACT }, 0).await?;
        received.into_received().map_err(unreadable)
    }
}

impl Handle<DeliveriesArgs, DeliveriesPage> for HttpConnection {
    async fn handle(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        self.deliveries_within(args, 0).await
    }
}

impl HttpConnection {
    /// Returns a page of signal deliveries, and waits up to `wait_ms` for the first one.
    pub(super) async fn deliveries_within(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        args.check()?;
        let after = args.after.map(|after| after.to_string());
        let query = DeliveriesQuery { after, limit: Some(Limit(args.limit)), wait_ms: Some(WaitMs(wait_ms)) };
        self.get(&["deliveries"], query, wait_ms).await
    }
}
