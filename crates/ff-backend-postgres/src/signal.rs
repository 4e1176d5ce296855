//! The room of signals, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{ListSignals, ReadDeliveries, ReadSignal};
use ff_core::backend::{Answer, EngineBackend, SignalRoom};
use ff_core::contracts::{
    DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use ff_core::types::{ExecutionId, SignalId};

use crate::PostgresBackend;

#[async_trait]
impl SignalRoom for PostgresBackend {
    async fn deliver(&self, args: DeliverArgs) -> Answer<Delivered> {
        self.writers.asker.ask(args).await
    }

    async fn signals(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        args.check()?;
        let id = args.execution_id;
        self.look(&id, ListSignals(args)).await
    }

    async fn signal(&self, id: &ExecutionId, signal: &SignalId) -> Answer<ReceivedSignal> {
        self.look(id, ReadSignal { execution_id: *id, signal_id: *signal }).await
    }

    async fn deliveries(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        args.check()?;
        self.readers.read(ReadDeliveries { args, partitions: self.partitions() }).await
    }
}
