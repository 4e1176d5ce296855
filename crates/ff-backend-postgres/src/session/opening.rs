//! Begins a batch: takes the locks of its partitions and reads the server state.

use ff_backend_sql::{Load, TransactionContext, Value};

use super::WriterSession;
use super::committing::log_unsent_note;
use super::server_state::{SERVER_STATE, ServerState};
use crate::connect::driver_error::DriverError;
use crate::statement::value::Parameter;

/// Takes the locks of partitions for one transaction, in the given order.
const LOCK: &str = "SELECT pg_advisory_xact_lock($1::int4, p) FROM unnest($2::int4[]) AS p";

impl WriterSession {
    /// Begins a batch on these partitions. Sends its first queries along.
    pub(super) async fn open(
        &mut self,
        partitions: &[u16],
        first: Vec<Load>,
    ) -> Result<TransactionContext, DriverError> {
        self.connection().await?;
        let context = if self.may_hold() {
            match self.begin_held(partitions, first).await {
                Ok(Some(context)) => context,
                Ok(None) => self.open_transaction(partitions, Vec::new()).await?,
                Err(error) => {
                    self.lose_connection();
                    return Err(error);
                }
            }
        } else {
            if !self.locks.is_empty() {
                self.leave().await?;
            }
            self.open_transaction(partitions, first).await?
        };
        if let Some(sent) = self.sent_note.take() {
            sent.await.map_or_else(|error| log_unsent_note(&self.outages, &error), drop);
        }
        Ok(context)
    }

    /// Begins a batch that locks its partitions until its transaction ends. Waits for locks that other sessions hold.
    async fn open_transaction(
        &mut self,
        partitions: &[u16],
        first: Vec<Load>,
    ) -> Result<TransactionContext, DriverError> {
        self.begin_transaction().await?;
        let partitions = partitions.iter().map(|partition| Value::from(*partition));
        let class = Parameter::one(Value::Int(self.class.into()));
        self.send(LOCK, vec![class, Parameter::each(partitions)]).await?;
        // A separate statement, so that it sees the writes of earlier lock holders.
        let server_state = self.ask_for(SERVER_STATE, vec![]).await?;
        self.send_ahead(first).await?;
        self.answers().await?;
        Ok(ServerState::read(&server_state.await?)?.context(self.clock.as_deref(), self.now))
    }

    pub(super) async fn begin_transaction(&mut self) -> Result<(), DriverError> {
        self.in_transaction = true;
        self.send("BEGIN", vec![]).await?;
        match self.settle.clone() {
            Some(settle) => self.send(&settle, vec![]).await,
            None => Ok(()),
        }
    }
}
