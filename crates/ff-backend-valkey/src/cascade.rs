//! Notifying the dependents of an execution that has ended.
//!
//! The function that ends an execution notifies its dependents in the same step, up to a bound. The rest is pending in
//! the record, and the pump completes it. This module is for a caller that does not wait for the pump, or that checks
//! its work: it continues what is pending. If nothing is pending, it looks at every edge that leaves the execution, and
//! settles the edges that were forgotten.

use std::collections::VecDeque;

use ff_core::backend::Answer;
use ff_core::contracts::CascadeStep;
use ff_core::execution::Outcome;
use ff_core::keys::{ExecKeyContext, FlowKeyContext};
use ff_core::limits;
use ff_core::operation::check_id;
use ff_core::partition::Partition;
use ff_core::state::TerminalOutcome;
use ff_core::types::{AttemptIndex, EdgeId, ExecutionId, FlowId, LaneId, Namespace};
use ff_script::flow::{
    ResolveDependencyArgs, ResolveDependencyOpKeys, ResolveDependencyResult, ff_cascade_completion,
    ff_resolve_dependency,
};
use futures_util::{StreamExt, stream};
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;
use crate::call::corrupt;

/// Maximum number of edges settled at the same time: their calls are sent without waiting for each other's answers.
const AT_ONCE: usize = 64;

/// Number of edges read from a set at once.
const SOME: usize = 512;

/// Notifies the dependents of an execution that has ended. Performs one step of what is pending. If nothing is pending,
/// settles every edge that was not settled, down to members that are skipped with it.
///
/// It fails closed: an edge with an unreadable id or unreadable data is left alone with a warning, and nothing is
/// guessed. An absent field is not an error: an execution without a lane is in the default lane, and one without an
/// attempt is at its first.
pub async fn run_cascade(store: &ValkeyBackend, upstream: &ExecutionId) -> Answer<CascadeStep> {
    check_id(upstream, &store.partitions)?;
    let step = ff_cascade_completion(&*store.calls, upstream).await?;
    if step != CascadeStep::default() {
        log_dispatch(upstream, step, u32::from(step.more));
        return Ok(step);
    }
    let (found, left) = edge_by_edge(store, upstream).await?;
    if found.resolved > 0 {
        tracing::warn!(%upstream, edges = found.resolved, "dependents had not been notified of an end");
    }
    if found.resolved + left > 0 {
        log_dispatch(upstream, found, left);
    }
    Ok(found)
}

/// Logs one line for each completion that was dispatched; none when all dependents had been notified before.
fn log_dispatch(upstream: &ExecutionId, CascadeStep { resolved, cascaded_children, .. }: CascadeStep, backlog: u32) {
    tracing::info!(%upstream, resolved, skipped = cascaded_children, backlog, "a completion was dispatched");
}

/// Settles every edge that leaves an execution, and the edges of members that are skipped with it. Edges beyond the
/// maximum depth stay pending in their records. Also returns the number of edges and executions that are left for the
/// backlog.
async fn edge_by_edge(store: &ValkeyBackend, upstream: &ExecutionId) -> Answer<(CascadeStep, u32)> {
    let (mut cascaded, mut left) = (CascadeStep::default(), 0);
    let mut ended = VecDeque::from([(*upstream, 0)]);
    while let Some((upstream, depth)) = ended.pop_front() {
        let (ends, edges) = match End::with_edges(store, &upstream).await {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(error) if depth > 0 => {
                tracing::warn!(%upstream, %error, "the dependents of a skipped execution cannot be read; they are notified later");
                left += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        for edges in edges.chunks(limits::FLOW_STEP) {
            let settled = stream::iter(edges.to_vec()).map(|edge| ends.settle(store, edge)).buffered(AT_ONCE);
            for settled in settled.collect::<Vec<_>>().await {
                let skipped = match settled {
                    EdgeOutcome::Before => continue,
                    EdgeOutcome::Unreadable => {
                        left += 1;
                        continue;
                    }
                    EdgeOutcome::Now { skipped } => skipped,
                };
                cascaded.resolved += 1;
                let Some(child) = skipped else { continue };
                cascaded.cascaded_children += 1;
                if depth < limits::MAX_CASCADE_DEPTH {
                    ended.push_back((child, depth + 1));
                } else {
                    cascaded.more = true;
                    left += 1;
                }
            }
        }
    }
    Ok((cascaded, left))
}

/// The end of a member of a flow.
struct End {
    execution_id: ExecutionId,
    flow_id: FlowId,
    outcome: Outcome,
}

/// The result of settling an edge.
enum EdgeOutcome {
    /// The edge was settled before.
    Before,
    /// The edge was settled now, and its child may have been skipped with it.
    Now { skipped: Option<ExecutionId> },
    /// Some data of the edge is unreadable; the edge stays as it is.
    Unreadable,
}

impl End {
    /// Returns the end of an execution, and the edges that leave it.
    async fn with_edges(store: &ValkeyBackend, id: &ExecutionId) -> Answer<Option<(Self, Vec<EdgeId>)>> {
        let Some(end) = Self::of(store, id).await? else { return Ok(None) };
        let edges = end.edges(store).await?;
        Ok(Some((end, edges)))
    }

    /// Returns the end of an execution. None when it is in no flow or has not ended: an execution that was replayed
    /// meanwhile does not propagate its old end.
    async fn of(store: &ValkeyBackend, id: &ExecutionId) -> Answer<Option<Self>> {
        let core = ExecKeyContext::new(&Partition::of(id), id).core();
        let [flow_id, outcome] = fields(store, &core, ["flow_id", "terminal_outcome"]).await?;
        let flow_id = flow_id.and_then(|id| id.parse().ok());
        let outcome = outcome.and_then(|word| word.parse().ok()).and_then(outcome_of);
        Ok(flow_id.zip(outcome).map(|(flow_id, outcome)| Self { execution_id: *id, flow_id, outcome }))
    }

    /// Returns the edges that leave the execution, by their published ids.
    async fn edges(&self, store: &ValkeyBackend) -> Answer<Vec<EdgeId>> {
        let out = self.flow_keys().outgoing(&self.execution_id);
        let (mut edges, mut cursor) = (Vec::new(), 0_u64);
        loop {
            let reply = store.calls.plain(&out, cmd("SSCAN").arg(&out).arg(cursor).arg("COUNT").arg(SOME)).await?;
            let (next, some) = <(u64, Vec<Vec<u8>>)>::from_redis_value(reply).unwrap_or_default();
            for id in some {
                match str::from_utf8(&id).ok().and_then(|id| id.parse().ok()) {
                    Some(id) => edges.push(id),
                    None => {
                        tracing::warn!(key = out, edge = %id.escape_ascii(), "an edge has an id that cannot be read")
                    }
                }
            }
            if next == 0 {
                edges.sort_unstable();
                edges.dedup();
                return Ok(edges);
            }
            cursor = next;
        }
    }

    /// Settles one edge. An edge with unreadable data stays as it is until the next look.
    async fn settle(&self, store: &ValkeyBackend, edge: EdgeId) -> EdgeOutcome {
        match self.settled(store, &edge).await {
            Ok(settled) => settled,
            Err(error) => {
                tracing::warn!(%edge, flow = %self.flow_id, %error, "an edge could not be settled; it is tried again");
                EdgeOutcome::Unreadable
            }
        }
    }

    async fn settled(&self, store: &ValkeyBackend, edge: &EdgeId) -> Answer<EdgeOutcome> {
        let Some(child) = self.child(store, edge).await? else { return Ok(EdgeOutcome::Unreadable) };
        let keys = ResolveDependencyOpKeys::new(
            &self.flow_id,
            edge,
            &self.execution_id,
            &child.id,
            &child.lane,
            child.attempt,
        );
        let args = ResolveDependencyArgs {
            edge_id: *edge,
            upstream_outcome: self.outcome,
            flow_id: self.flow_id,
            downstream_execution_id: child.id,
        };
        let (result, settled) = match ff_resolve_dependency(&*store.calls, &keys, &args).await? {
            ResolveDependencyResult::AlreadyResolved => ("already_resolved", EdgeOutcome::Before),
            ResolveDependencyResult::Satisfied { .. } => ("satisfied", EdgeOutcome::Now { skipped: None }),
            ResolveDependencyResult::Impossible { child_skipped, .. } => {
                ("impossible", EdgeOutcome::Now { skipped: child_skipped.then_some(child.id) })
            }
        };
        let (upstream, downstream) = (&self.execution_id, &child.id);
        tracing::debug!(%edge, %upstream, %downstream, flow = %self.flow_id, result, "an edge was dispatched");
        Ok(settled)
    }

    /// Returns the execution that an edge leads to. If that is unreadable, logs a warning and returns none.
    async fn child(&self, store: &ValkeyBackend, edge: &EdgeId) -> Answer<Option<Child>> {
        let key = self.flow_keys().edge(edge);
        let [downstream] = fields(store, &key, ["downstream_execution_id"]).await?;
        let id = downstream.and_then(|id| id.parse::<ExecutionId>().ok());
        let Some(id) = id.filter(|id| id.partition() == self.execution_id.partition()) else {
            tracing::warn!(key, "an edge has no downstream execution");
            return Ok(None);
        };
        let core = ExecKeyContext::new(&Partition::of(&id), &id).core();
        let [namespace, lane, attempt] =
            fields(store, &core, ["namespace", "lane_id", "current_attempt_index"]).await?;
        let read = || {
            let namespace = namespace.map_or_else(|| Ok(Namespace::default_name()), |name| name.parse()).ok()?;
            let lane: LaneId = lane.map_or_else(|| Ok(LaneId::default_name()), |name| name.parse()).ok()?;
            let attempt = attempt.map_or(Ok(0), |index| index.parse()).ok()?;
            Some(Child { id, lane: lane.within(&namespace), attempt: AttemptIndex(attempt) })
        };
        let child = read();
        if child.is_none() {
            tracing::warn!(key = core, "an execution has a lane or an attempt that cannot be read");
        }
        Ok(child)
    }

    fn flow_keys(&self) -> FlowKeyContext {
        FlowKeyContext::new(&Partition::of(&self.execution_id), &self.flow_id)
    }
}

/// The execution that an edge leads to, and the parts of its key names.
struct Child {
    id: ExecutionId,
    lane: LaneId,
    attempt: AttemptIndex,
}

/// Reads fields of a hash; none for a field that is not set.
pub(crate) async fn fields<const N: usize>(
    store: &ValkeyBackend,
    key: &str,
    names: [&str; N],
) -> Answer<[Option<String>; N]> {
    let wrong = "has fields that are not text";
    let values: Vec<_> = store.calls.read(key, cmd("HMGET").arg(key).arg(&names), wrong).await?;
    values.try_into().map_err(|_| corrupt(key, wrong))
}

fn outcome_of(word: TerminalOutcome) -> Option<Outcome> {
    match word {
        TerminalOutcome::None => None,
        TerminalOutcome::Success => Some(Outcome::Success),
        TerminalOutcome::Failed => Some(Outcome::Failed),
        TerminalOutcome::Cancelled => Some(Outcome::Cancelled),
        TerminalOutcome::Expired => Some(Outcome::Expired),
        TerminalOutcome::Skipped => Some(Outcome::Skipped),
    }
}
