//! The room of signals, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, SignalRoom};
use ff_core::contracts::{
    DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use ff_core::types::{ExecutionId, SignalId};

use super::HttpBackend;
use super::call::unreadable;
use super::execution::EXACT;

#[async_trait]
impl SignalRoom for HttpBackend {
    async fn deliver(&self, args: DeliverArgs) -> Answer<Delivered> {
        self.named(&args.execution_id)?;
        args.check()?;
        self.ask(args.execution_id, "signals", ff_api::Deliver::of(args)).await
    }

    async fn signals(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        args.check()?;
        let query = [("skip", args.skip.to_string()), ("limit", args.limit.to_string())];
        self.get(&["executions", &self.named(&args.execution_id)?, "signals"], &query, 0).await
    }

    async fn signal(&self, id: &ExecutionId, signal: &SignalId) -> Answer<ReceivedSignal> {
        let (name, value) = EXACT;
        let (id, signal) = (self.named(id)?, signal.to_string());
        let path = ["executions", &id, "signals", &signal];
        let received: ff_api::ReceivedSignal = self.get(&path, &[(name, value.to_owned())], 0).await?;
        received.into_received().map_err(|refusal| unreadable(&refusal))
    }

    async fn deliveries(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        self.deliveries_within(args, 0).await
    }
}

impl HttpBackend {
    /// What was delivered, waiting for something up to `wait_ms`.
    pub(super) async fn deliveries_within(&self, args: DeliveriesArgs, wait_ms: u64) -> Answer<DeliveriesPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string()), ("wait_ms", wait_ms.to_string())];
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["deliveries"], &query, wait_ms).await
    }
}
