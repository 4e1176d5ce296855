//! Notifying the dependents of an execution that has ended, by the event that says they have not all been notified.
//!
//! The transaction that ends an execution notifies its dependents, up to a bound. Where that is not all of them, the
//! record has a pending propagation, and an event in `ff_completion_event` says so. The pump completes it unasked; this
//! is for a reader of the events that does not want to wait.

use ff_backend_sql::ReadContext;
use ff_core::backend::Answer;
use ff_core::contracts::{CascadeArgs, CascadeStep};
use ff_core::engine_error::EngineError;

use crate::PostgresBackend;
use crate::outbox::ReadEvent;

/// The result of dispatching an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchOutcome {
    /// All dependents have been notified: by this call, as far as it says, and by a pump that came in between.
    Dispatched(CascadeStep),
    /// They had all been notified before. Nothing was done.
    AlreadyDispatched,
    /// There is no event of that number. Nothing was done.
    NotFound,
}

/// Notifies all dependents that an event is about, unless they have been.
///
/// Each step is a transaction of its own, over a bounded number of edges, and nothing is locked between two of them.
/// The step that notifies the last dependent stamps the event, so that a call that ends half-way leaves it to be
/// dispatched again, and no dependent is notified twice. Descendants that are skipped on the way and have too many
/// dependents themselves have events of their own.
pub async fn dispatch_completion(pool: &PostgresBackend, event_id: i64) -> Answer<DispatchOutcome> {
    let mut cascaded: Option<CascadeStep> = None;
    loop {
        let Some(event) = pool.readers.read(ReadEvent(event_id), ReadContext::default()).await? else {
            return Ok(DispatchOutcome::NotFound);
        };
        match (event.dispatched, cascaded) {
            (true, None) => return Ok(DispatchOutcome::AlreadyDispatched),
            (true, Some(cascaded)) => {
                let (upstream, CascadeStep { resolved, cascaded_children: skipped, .. }) =
                    (event.execution_id, cascaded);
                // A skipped descendant with too many dependents has an event of its own; of this one nothing is left.
                tracing::info!(event_id, %upstream, resolved, skipped, backlog = 0, "a completion was dispatched");
                return Ok(DispatchOutcome::Dispatched(CascadeStep { more: false, ..cascaded }));
            }
            // The record is the truth, and it has nothing pending: the tables were changed from outside.
            (false, Some(CascadeStep { more: false, .. })) => {
                let id = event.execution_id;
                return Err(EngineError::Corrupt(format!("the completion event {event_id} is not owed by {id}")));
            }
            (false, Some(_) | None) => {}
        }
        // The event may be stamped by now. The record says so within the transaction, and then nothing is done.
        let owed = CascadeArgs { execution_id: event.execution_id, owed_since: Some(event.since) };
        let step = pool.writers.writer.ask(owed).await?;
        let (upstream, CascadeStep { resolved, cascaded_children, more }) = (event.execution_id, step);
        tracing::debug!(event_id, %upstream, resolved, skipped = cascaded_children, more, "edges were dispatched");
        let before = cascaded.unwrap_or_default();
        cascaded = Some(CascadeStep {
            resolved: before.resolved + step.resolved,
            cascaded_children: before.cascaded_children + step.cascaded_children,
            more: step.more,
        });
    }
}
