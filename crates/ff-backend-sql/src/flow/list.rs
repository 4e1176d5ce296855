//! Listing flows, newest first.

use std::cmp::Reverse;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{FlowCursor, FlowsPage, ListFlowsArgs};
use ff_core::flow::{Flow, FlowState};
use ff_core::limits;
use ff_core::types::{FlowId, TimestampMs};
use uuid::Uuid;

use crate::error::SqlError;
use crate::queries::LIST_FLOWS;
use crate::session::{Question, Read};
use crate::value::{Row, Value};
use crate::{ReadContext, record};

#[async_trait]
impl Question for ListFlowsArgs {
    type Answer = FlowsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<FlowsPage> {
        let args = self;
        // One more than a page tells whether another page follows.
        let enough = args.limit + 1;
        let picky = args.kind.is_some() || args.tag.is_some();
        let at_once = if picky { limits::PAGE.max(enough) } else { enough };
        // No flow is newer than this.
        let start = FlowCursor { created_at: TimestampMs(i64::MAX), flow_id: FlowId::from_uuid(Uuid::max()) };
        let mut after = Some(args.after.unwrap_or(start));
        let mut flows: Vec<Flow> = Vec::new();
        while let Some(place) = after.filter(|_| flows.len() < enough) {
            let next = next_flows(reader, &args, place, at_once).await?;
            after = next.last().map(FlowCursor::of).filter(|_| next.len() == at_once);
            flows.extend(next.into_iter().filter(|flow| args.wants(flow)));
        }
        let more = flows.len() > args.limit;
        flows.truncate(args.limit);
        let next = flows.last().map(FlowCursor::of).filter(|_| more);
        Ok(FlowsPage { flows: flows.iter().map(Flow::info).collect(), next })
    }
}

/// The next flows in the states asked for, of any kind and with any tags.
async fn next_flows(
    reader: &mut dyn Read,
    args: &ListFlowsArgs,
    after: FlowCursor,
    limit: usize,
) -> Result<Vec<Flow>, SqlError> {
    let states = args.state.as_ref().map_or(FlowState::ALL, std::slice::from_ref);
    let of = |state: &FlowState| {
        vec![
            args.namespace.as_str().into(),
            state.as_str().into(),
            after.created_at.into(),
            Value::Uuid(*after.flow_id.as_uuid()),
            Value::number(limit),
        ]
    };
    // What is staged is there for nobody.
    let parameters: Vec<_> = states.iter().filter(|state| **state != FlowState::Staging).map(of).collect();
    let lists = reader.query(LIST_FLOWS, &parameters).await?;
    let mut rows =
        lists.into_iter().flatten().map(|row| Ok((place(&row)?, row))).collect::<Result<Vec<_>, SqlError>>()?;
    rows.sort_unstable_by_key(|(place, _)| Reverse(*place));
    rows.truncate(limit);
    rows.iter().map(|(_, row)| record::read(row.text(2)?)).collect()
}

fn place(row: &Row) -> Result<FlowCursor, SqlError> {
    Ok(FlowCursor { created_at: row.moment(0)?, flow_id: FlowId::from_uuid(row.uuid(1)?) })
}
