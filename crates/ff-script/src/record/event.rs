//! Reading the events of a flow or a feed, and remembered changes of a flow's graph.

use ff_core::contracts::{FlowEventsPage, GrownFlow};
use ff_core::event::{EventKind, EventRecord};
use ff_core::execution::Outcome;
use ff_core::flow::{FlowEvent, FlowEventKind, FlowKeyEntry};
use ff_core::signal::Position;
use ff_core::types::{AttemptIndex, IdempotencyKey, TimestampMs};

use super::{Hash, priority};
use crate::ScriptError;
use crate::flow::FlowEventFields;

impl FlowEventFields {
    /// Returns the events that were read, as a page that begins with event `from`.
    pub fn page(&self, from: u64) -> Result<FlowEventsPage, ScriptError> {
        let events = self.events.iter().map(|(seq, fields)| event(*seq, fields)).collect::<Result<Vec<_>, _>>()?;
        let next = events.last().map_or(from, |last| last.seq + 1);
        let missed = self.first.is_some_and(|first| from < first);
        Ok(FlowEventsPage { missed, next, ended: self.ended && next >= self.core_events, events })
    }
}

fn event(seq: u64, fields: &Hash) -> Result<FlowEvent, ScriptError> {
    let what = match fields.read::<String>("event")?.as_str() {
        "opened" => FlowEventKind::Opened { nodes: fields.read("nodes")?, edges: fields.read("edges")? },
        "grown" => FlowEventKind::Grown {
            nodes: fields.read("nodes")?,
            edges: fields.read("edges")?,
            graph_revision: fields.read("graph_revision")?,
        },
        "moved" => FlowEventKind::Moved {
            node: fields.read("node")?,
            execution_id: fields.read("execution_id")?,
            from: fields.read("from")?,
            to: fields.read("to")?,
        },
        "closed" => FlowEventKind::Closed,
        "cancelled" => FlowEventKind::Cancelled { policy: fields.read("policy")? },
        "ended" => FlowEventKind::Ended { state: fields.read("state")? },
        "reopened" => FlowEventKind::Reopened,
        other => return Err(ScriptError::parse(format!("in no flow happens {other}"))),
    };
    Ok(FlowEvent { seq, at: TimestampMs(fields.read("at")?), what })
}

/// Reads a change of a graph that is remembered under its idempotency key.
pub(crate) fn flow_key(key: IdempotencyKey, fields: &Hash) -> Result<FlowKeyEntry, ScriptError> {
    let members = fields.text("members")?.unwrap_or_default().split_whitespace().map(|id| id.parse().ok());
    let edges = fields.text("edges")?.unwrap_or_default().lines().map(|line| {
        let (id, state) = line.split_once(' ')?;
        Some((id.parse().ok()?, state.parse().ok()?))
    });
    let read = || {
        let (members, edges) = (members.collect::<Option<_>>()?, edges.collect::<Option<_>>()?);
        Some((members, edges))
    };
    let (members, edges) = read().ok_or_else(|| ScriptError::parse("a remembered change of a graph cannot be read"))?;
    let answer = GrownFlow { graph_revision: fields.read("graph_revision")?, members, edges };
    Ok(FlowKeyEntry { key, answer, until: TimestampMs(fields.read("until")?) })
}

/// Reads one entry of the feed.
pub(crate) fn event_record(position: Position, fields: &Hash) -> Result<EventRecord, ScriptError> {
    Ok(EventRecord {
        position,
        namespace: fields.read("namespace")?,
        lane_id: fields.read("lane_id")?,
        kind: fields.read("kind")?,
        execution_id: fields.read("execution_id")?,
        flow_id: fields.maybe("flow_id")?,
        what: what(fields)?,
    })
}

fn what(fields: &Hash) -> Result<EventKind, ScriptError> {
    let attempt = || Ok::<_, ScriptError>(AttemptIndex(fields.read("attempt")?));
    let moment = |name| Ok::<_, ScriptError>(TimestampMs(fields.read(name)?));
    Ok(match fields.text("event")?.unwrap_or_default() {
        "submitted" => EventKind::Submitted,
        "promoted" => EventKind::Promoted,
        "started" => EventKind::Started { attempt: attempt()? },
        "resumed" => EventKind::Resumed { attempt: attempt()? },
        "delayed" => EventKind::Delayed { until: moment("until")? },
        "retry_scheduled" => EventKind::RetryScheduled { at: moment("at")? },
        "lease_expired" => EventKind::LeaseExpired,
        "lease_revoked" => EventKind::LeaseRevoked,
        "suspended" => EventKind::Suspended,
        "waits_for_children" => EventKind::WaitsForChildren,
        "blocked" => EventKind::Blocked { reason: fields.read("reason")? },
        "unblocked" => EventKind::Unblocked { reason: fields.read("reason")? },
        "released" => EventKind::Released { by: fields.read("by")? },
        "escalated" => EventKind::Escalated,
        "waitpoint_expired" => EventKind::WaitpointExpired,
        "finished" => EventKind::Finished { outcome: outcome(fields.text("outcome")?.unwrap_or_default())? },
        "replayed" => EventKind::Replayed,
        "prioritised" => {
            EventKind::Prioritised { from: priority(fields.read("from")?)?, to: priority(fields.read("to")?)? }
        }
        "tagged" => EventKind::Tagged,
        "soft_limit_exceeded" => EventKind::SoftLimitExceeded { budget_id: fields.read("budget_id")? },
        other => return Err(ScriptError::parse(format!("to no execution happens {other}"))),
    })
}

/// Reads the outcome of an execution.
pub(crate) fn outcome(word: &str) -> Result<Outcome, ScriptError> {
    Ok(match word {
        "success" => Outcome::Success,
        "failed" => Outcome::Failed,
        "cancelled" => Outcome::Cancelled,
        "expired" => Outcome::Expired,
        "skipped" => Outcome::Skipped,
        other => return Err(ScriptError::parse(format!("nothing ends as {other}"))),
    })
}
