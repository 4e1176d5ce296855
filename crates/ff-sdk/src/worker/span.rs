//! What everything that is logged about an execution in hand carries, a handler's own lines included.

use ff_core::contracts::Task;
use ff_core::lease::Holder;
use tracing::Span;
use tracing::field::Empty;

/// The span of one run. It is there whenever anything at all is logged: a warning must say what it is about, also where
/// nothing less than warnings is told.
pub(super) fn of(holder: &Holder, task: &Task) -> Span {
    let span = tracing::error_span!(
        "work",
        execution = %task.execution_id,
        lane = %task.lane_id,
        kind = %task.kind,
        attempt = %task.attempt_index,
        worker = %holder.worker_instance_id,
        trace_id = Empty,
    );
    if let Some(trace) = &task.trace {
        span.record("trace_id", trace.trace_id());
    }
    span
}
