//! Notifies the remaining dependents of an ended execution, given its event in the outbox.
//!
//! The transaction that ends an execution notifies a bounded number of dependents. If some remain, the record has a pending
//! propagation and `ff_completion_event` has an event. The pump completes the propagation anyway; this call is for readers of the
//! events that do not want to wait.

use ff_backend_sql::ReadContext;
use ff_core::backend::Answer;
use ff_core::contracts::{CascadeArgs, CascadeStep};
use ff_core::engine_error::EngineError;

use crate::PostgresBackend;
use crate::outbox::ReadEvent;

/// The result of dispatching an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchOutcome {
    /// All dependents have been notified. The step counts those notified by this call; a pump may have notified others meanwhile.
    Dispatched(CascadeStep),
    /// All dependents had been notified before. Nothing was done.
    AlreadyDispatched,
    /// No event has this number. Nothing was done.
    NotFound,
}

/// Notifies the dependents of an event that have not been notified yet.
///
/// Each step is one transaction over a bounded number of edges; no lock is held between steps. The step that notifies the last
/// dependent stamps the event. A call that ends half-way leaves the event unstamped, so it can be dispatched again, and no
/// dependent is notified twice. A skipped descendant with too many dependents gets an event of its own.
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
                // Nothing of this event remains. A skipped descendant with too many dependents has an event of its own.
                tracing::info!(event_id, %upstream, resolved, skipped, backlog = 0, "a completion was dispatched");
                return Ok(DispatchOutcome::Dispatched(CascadeStep { more: false, ..cascaded }));
            }
            // The record is the truth and has nothing pending, so the tables were changed from outside.
            (false, Some(CascadeStep { more: false, .. })) => {
                let id = event.execution_id;
                return Err(EngineError::Corrupt(format!("the completion event {event_id} is not owed by {id}")));
            }
            (false, Some(_) | None) => {}
        }
        // The event may have been stamped meanwhile. The record shows that within the transaction, and then nothing is done.
        let owed = CascadeArgs { execution_id: event.execution_id, pending_since: Some(event.since) };
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
