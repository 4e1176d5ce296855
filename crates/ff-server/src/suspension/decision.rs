//! Decisions about suspended executions, over HTTP.

use std::collections::VecDeque;

use axum::Json;
use axum::extract::State;
use ff_api::{Decision, Decisions, DecisionsQuery};
use ff_core::backend::Answer;
use ff_core::contracts::DeliveriesArgs;
use ff_core::limits;
use ff_core::signal::{FeedCursor, Position};
use ff_core::types::{Namespace, TimestampMs};
use ff_scheduler::Runtime;

use crate::request::params::Params;
use crate::response::problem::Result;

/// Spans to read, one after the other: a minute, ten minutes, an hour, a day, a week.
const SPANS_MS: [u64; 5] = [60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000];

/// Maximum number of feed pages to read for one span.
const PAGES: usize = 10;

/// Lists the approvals and rejections in a namespace, newest first. A feed is read forward from a start time, so a longer span
/// is read only when the shorter one has too few decisions.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<DecisionsQuery>) -> Result<Json<Decisions>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    let limit = query.limit.unwrap_or_default().0;
    DeliveriesArgs { after: None, limit }.check()?;
    let now = ff.engine_store().now().await?;
    let mut latest = Decisions { decisions: Vec::new(), more: false };
    for span in SPANS_MS {
        match since(&ff, &namespace, now - span, limit).await? {
            Some(decisions) => latest = decisions,
            None => latest.more = true,
        }
        if latest.more || latest.decisions.len() >= limit {
            break;
        }
    }
    Ok(Json(latest))
}

/// Returns the latest decisions since a time; `None` if the feed has more pages since then than the limit.
async fn since(ff: &Runtime, namespace: &Namespace, from: TimestampMs, limit: usize) -> Answer<Option<Decisions>> {
    let start = Position { at: from, nth: 0 };
    let partitions = 0..ff.backend().partitions().num_flow_partitions;
    let mut after = FeedCursor(partitions.map(|partition| (partition, start)).collect());
    let (mut found, mut more) = (VecDeque::new(), false);
    for _ in 0..PAGES {
        let page = ff.backend().deliveries(DeliveriesArgs { after: Some(after), limit: limits::PAGE }).await?;
        let is_last = page.deliveries.len() < limits::PAGE;
        let own = page.deliveries.into_iter().filter(|delivery| delivery.namespace == *namespace);
        for decision in own.filter_map(Decision::of) {
            more |= found.len() == limit && found.pop_front().is_some();
            found.push_back(decision);
        }
        if is_last {
            return Ok(Some(Decisions { decisions: found.into_iter().rev().collect(), more }));
        }
        after = page.next;
    }
    Ok(None)
}
