//! The room of signals.

use async_trait::async_trait;

use super::Answer;
use crate::signal::contracts::{
    DeliverArgs, Delivered, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
};
use crate::types::{ExecutionId, SignalId};

/// What callers may ask about signals.
#[async_trait]
pub trait SignalRoom: Send + Sync {
    /// Delivers a signal by the authority of its token. Safe to repeat under an idempotency key.
    async fn deliver(&self, args: DeliverArgs) -> Answer<Delivered>;

    /// Lists the signals of an execution, oldest first.
    async fn signals(&self, args: SignalsArgs) -> Answer<SignalsPage>;

    /// One signal with its bytes; refused as `not_found` when the execution received no such signal.
    async fn signal(&self, id: &ExecutionId, signal: &SignalId) -> Answer<ReceivedSignal>;

    /// What was delivered on any partition since a cursor. Answers at once, with what there is.
    async fn deliveries(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage>;
}
