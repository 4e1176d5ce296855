//! The beginning of a batch: its partitions, and under which circumstances it begins.

use ff_backend_sql::{Begun, Load, Value};

use super::Writing;
use super::circumstances::Circumstances;
use super::committing::not_told;
use crate::trouble::Trouble;
use crate::value::Parameter;

/// Takes partitions for one transaction, in the order they are given.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock($1::int4, p) FROM unnest($2::int4[]) AS p";

impl Writing {
    /// Begins a batch to which these partitions belong. What it is going to be asked first is on its way with it.
    pub(super) async fn open(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<Begun, Trouble> {
        self.connection().await?;
        let begun = if self.may_hold() {
            match self.begin_held(partitions, first).await {
                Ok(Some(begun)) => begun,
                Ok(None) => self.open_transaction(partitions, Vec::new()).await?,
                Err(trouble) => {
                    self.lose_connection();
                    return Err(trouble);
                }
            }
        } else {
            if !self.held.is_empty() {
                self.leave().await?;
            }
            self.open_transaction(partitions, first).await?
        };
        if let Some(told) = self.told.take() {
            told.await.map_or_else(|trouble| not_told(&self.outages, &trouble), drop);
        }
        Ok(begun)
    }

    /// Begins a batch whose partitions belong to it until its transaction ends. Who else has one is waited for.
    async fn open_transaction(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<Begun, Trouble> {
        self.begin_transaction().await?;
        let partitions = partitions.iter().map(|partition| Value::from(*partition));
        let class = Parameter::one(Value::Int(self.class.into()));
        self.send(&self.frame.lock.clone(), vec![class, Parameter::each(partitions)]).await?;
        // A statement of its own: it sees what those have written who had the partitions before.
        let told = self.ask_for(&self.frame.circumstances.clone(), vec![]).await?;
        self.send_ahead(first).await?;
        self.answers().await?;
        Ok(Circumstances::read(&told.await?)?.begun(self.clock.as_deref(), self.now))
    }

    pub(super) async fn begin_transaction(&mut self) -> Result<(), Trouble> {
        self.in_transaction = true;
        self.send(&self.frame.begin.clone(), vec![]).await?;
        match self.frame.settle.clone() {
            Some(settle) => self.send(&settle, vec![]).await,
            None => Ok(()),
        }
    }
}
