//! Listing flows, newest first.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ff_core::backend::Answer;
use ff_core::contracts::{FlowCursor, FlowsPage, ListFlowsArgs};
use ff_core::flow::Flow;
use ff_core::types::FlowId;
use ff_script::flow::ff_list_flows;

use crate::ValkeyBackend;
use crate::newest::{NewestRows, Part, newest};

impl ValkeyBackend {
    /// Returns the newest flows of all partitions. A partition returns their records as well, so nothing is read twice.
    pub(super) async fn flows_page(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        args.check()?;
        let found = Mutex::new(HashMap::<FlowId, Flow>::new());
        let (request, records) = (&args, &found);
        let partitions = self.partitions_of(&args.namespace).await?;
        let begin = partitions.map(|partition| (partition, args.after));
        let NewestRows { rows: mut newest, .. } =
            newest(begin, args.limit, usize::MAX, |partition, after, few| async move {
                let some = ListFlowsArgs { limit: few, ..request.clone() };
                let listed = ff_list_flows(&*self.calls, partition, &some, after).await?;
                let mut rows = Vec::with_capacity(listed.flows.len());
                for (id, fields) in listed.flows {
                    let flow = fields.flow(id, partition)?;
                    rows.push(FlowCursor::of(&flow));
                    records.lock().unwrap_or_else(PoisonError::into_inner).insert(id, flow);
                }
                Ok(Part { rows, more: listed.more.map(Some), looked: 0, reached: None })
            })
            .await?;
        let more = newest.len() > args.limit;
        newest.truncate(args.limit);
        let next = newest.last().copied().filter(|_| more);
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let flows = newest.iter().filter_map(|row| found.remove(&row.flow_id));
        Ok(FlowsPage { flows: flows.map(|flow| flow.info()).collect(), next })
    }
}
