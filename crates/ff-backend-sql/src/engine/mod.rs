//! The queries of an engine: the state of a partition, and its whole content.

mod flows;
mod snapshot;
mod steps;
mod streams;
mod suspensions;

use async_trait::async_trait;
use ff_core::backend::{Answer, PartitionStatus, ReadyLane};
use ff_core::contracts::Head;
use ff_core::query::Sweep;
use ff_core::types::{Kind, Priority, RequirementClass};

use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::execution::lane_of;
use crate::queries::{NEXT_DUE, NEXT_READY};
use crate::session::{Question, Read};
use crate::value::{Row, Value};

#[async_trait]
impl Question for Sweep {
    type Answer = PartitionStatus;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<PartitionStatus> {
        let mut swept = PartitionStatus { ready: ready_on(reader, self.partition).await?, next_due: None };
        for row in reader.query(NEXT_DUE, &[vec![self.partition.into()]]).await?.iter().flatten() {
            let at = row.moment(0)?;
            swept.next_due = Some(swept.next_due.map_or(at, |earliest| earliest.min(at)));
        }
        Ok(swept)
    }
}

/// The best of each class and kind of each lane that waits on a partition.
pub(crate) async fn ready_on(reader: &mut dyn Read, partition: u16) -> Result<Vec<ReadyLane>, SqlError> {
    let mut all = Vec::new();
    // Goes from each queue to the next, and so past everything that waits behind a head.
    let mut last = [text(""), text(""), text("")];
    while let Some(row) = first(reader, NEXT_READY, [vec![partition.into()], last.to_vec()].concat()).await? {
        last = [text(row.text(0)?), text(row.text(1)?), text(row.text(2)?)];
        all.push(ready(&row)?);
    }
    Ok(all)
}

async fn first(reader: &mut dyn Read, sql: &'static str, parameters: Vec<Value>) -> Result<Option<Row>, SqlError> {
    Ok(reader.query(sql, &[parameters]).await?.into_iter().flatten().next())
}

fn text(text: &str) -> Value {
    text.into()
}

fn ready(row: &Row) -> Result<ReadyLane, SqlError> {
    let class = RequirementClass::parse(row.text(1)?).map_err(unreadable("a requirement class"))?;
    let kind = Kind::parse(row.text(2)?).map_err(unreadable("a kind"))?;
    let priority = Priority::new(row.int(3)?).map_err(unreadable("a priority"))?;
    Ok(ReadyLane { lane: lane_of(row.text(0)?)?, kind, class, head: Head::new(priority, row.moment(4)?) })
}
