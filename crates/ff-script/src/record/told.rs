//! What happened, as the feed of a partition tells it.

use ff_core::event::{Told, What};
use ff_core::execution::Outcome;
use ff_core::signal::Position;
use ff_core::types::{AttemptIndex, Priority, TimestampMs};

use super::Hash;
use crate::ScriptError;

/// One entry of the feed.
pub(crate) fn told(position: Position, fields: &Hash) -> Result<Told, ScriptError> {
    Ok(Told {
        position,
        namespace: fields.read("namespace")?,
        lane_id: fields.read("lane_id")?,
        kind: fields.read("kind")?,
        execution_id: fields.read("execution_id")?,
        flow_id: fields.maybe("flow_id")?,
        what: what(fields)?,
    })
}

fn what(fields: &Hash) -> Result<What, ScriptError> {
    let attempt = || Ok::<_, ScriptError>(AttemptIndex(fields.read("attempt")?));
    let moment = |name| Ok::<_, ScriptError>(TimestampMs(fields.read(name)?));
    let priority =
        |name| Priority::new(fields.read(name)?).map_err(|error| ScriptError::parse(format!("the priority {error}")));
    Ok(match fields.text("event")?.unwrap_or_default() {
        "submitted" => What::Submitted,
        "promoted" => What::Promoted,
        "started" => What::Started { attempt: attempt()? },
        "resumed" => What::Resumed { attempt: attempt()? },
        "delayed" => What::Delayed { until: moment("until")? },
        "retry_scheduled" => What::RetryScheduled { at: moment("at")? },
        "lease_expired" => What::LeaseExpired,
        "lease_revoked" => What::LeaseRevoked,
        "suspended" => What::Suspended,
        "waits_for_children" => What::WaitsForChildren,
        "unblocked" => What::Unblocked,
        "released" => What::Released { by: fields.read("by")? },
        "escalated" => What::Escalated,
        "waitpoint_expired" => What::WaitpointExpired,
        "finished" => What::Finished { outcome: outcome(fields.text("outcome")?.unwrap_or_default())? },
        "replayed" => What::Replayed,
        "prioritised" => What::Prioritised { from: priority("from")?, to: priority("to")? },
        "tagged" => What::Tagged,
        other => return Err(ScriptError::parse(format!("to no execution happens {other}"))),
    })
}

fn outcome(word: &str) -> Result<Outcome, ScriptError> {
    Ok(match word {
        "success" => Outcome::Success,
        "failed" => Outcome::Failed,
        "cancelled" => Outcome::Cancelled,
        "expired" => Outcome::Expired,
        "skipped" => Outcome::Skipped,
        other => return Err(ScriptError::parse(format!("nothing ends as {other}"))),
    })
}
