//! The room of signals, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, SignalRoom};
use ff_core::contracts::{
    DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use ff_core::types::{ExecutionId, SignalId};

use super::deliveries::ReadDeliveries;
use super::read::{ListSignals, ReadSignal};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> SignalRoom for SqlStore<D> {
    async fn deliver(&self, args: DeliverArgs) -> Answer<Delivered> {
        self.writer().ask(args).await
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
        self.read(ReadDeliveries { args, partitions: self.driver().partitions() }).await
    }
}
