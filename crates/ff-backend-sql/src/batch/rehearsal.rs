//! Finding out what a load is going to ask: it is run before a reader that finds nothing and takes note of every question. A
//! store behind a network sends them all at once, instead of waiting for the answer to one before it asks the next.

use ff_core::operation::{Conditions, Operation};
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

use super::TakenUp;
use super::decide::missed;
use super::misses::Misses;
use crate::desk::Desk;
use crate::error::SqlError;
use crate::session::{Key, Load, Read};
use crate::table::{Columns, Table};
use crate::value::{Row, Value};

/// What a batch asks before anything is known. Nothing of it depends on the time, except for what a pump asks: then there is
/// nothing to be sent ahead.
pub(super) async fn first_loads(batch: &[TakenUp], partitions: &PartitionConfig) -> Result<Vec<Load>, SqlError> {
    if batch.iter().any(|taken_up| matches!(taken_up.operation, Operation::Pump(_))) {
        return Ok(Vec::new());
    }
    let at = |nonce| Conditions { partitions: *partitions, nonce, now: TimestampMs::default() };
    let conditions: Vec<_> = batch.iter().map(|taken_up| at(taken_up.nonce)).collect();
    match conditions.first() {
        Some(first) => loads_of(&missed(&Desk::default(), batch.iter().zip(&conditions)), first).await,
        None => Ok(Vec::new()),
    }
}

/// What loading these misses asks first. What follows from an answer is not known yet.
pub(super) async fn loads_of(misses: &Misses, at: &Conditions) -> Result<Vec<Load>, SqlError> {
    let mut rehearsal = Rehearsal(Vec::new());
    misses.clone().load(&mut rehearsal, &mut Desk::default(), at).await?;
    Ok(rehearsal.0)
}

/// A reader that finds nothing.
struct Rehearsal(Vec<Load>);

impl Read for Rehearsal {
    async fn load(
        &mut self,
        table: &'static Table,
        wanted: Columns,
        keys: &[Key],
    ) -> Result<Vec<Option<Row>>, SqlError> {
        self.0.push(Load::Rows(table, wanted, keys.to_vec()));
        Ok(vec![None; keys.len()])
    }

    async fn query(&mut self, sql: &'static str, parameters: &[Vec<Value>]) -> Result<Vec<Vec<Row>>, SqlError> {
        self.0.push(Load::Query(sql, parameters.to_vec()));
        Ok(vec![Vec::new(); parameters.len()])
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CompleteArgs, PumpArgs};
    use ff_core::dice::{Dice, SeededDice};
    use ff_core::lease::Fence;
    use ff_core::types::{AttemptId, ExecutionId, LeaseEpoch, LeaseId};
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;
    use crate::schema::EXECUTION;
    use crate::session::key_of;

    fn taken_up(operation: Operation) -> TakenUp {
        TakenUp { operation, nonce: SeededDice::new(1).nonce() }
    }

    fn completion(id: ExecutionId) -> Operation {
        let fence = Fence {
            lease_id: LeaseId::from_uuid(Uuid::nil()),
            lease_epoch: LeaseEpoch(1),
            attempt_id: AttemptId::from_uuid(Uuid::nil()),
        };
        Operation::Complete(CompleteArgs { execution_id: id, fence, result: None })
    }

    #[test]
    fn what_is_asked_first_is_known_before_anything_is() {
        let id = ExecutionId::new(3, Uuid::from_u128(7));
        let loads =
            |batch: &[TakenUp]| first_loads(batch, &PartitionConfig::default()).now_or_never().unwrap().unwrap();
        let first = loads(&[taken_up(completion(id))]);
        assert_eq!(first, [Load::Rows(&EXECUTION, EXECUTION.named(&["record"]), vec![key_of(&id)])]);
        let pump = taken_up(Operation::Pump(PumpArgs { partition: 3 }));
        assert_eq!(loads(&[taken_up(completion(id)), pump]), []);
    }
}
