//! The trace context of a request, from its headers.

use axum::http::header::GetAll;
use axum::http::{HeaderMap, HeaderValue};
use ff_core::contracts::SubmitArgs;
use ff_core::trace::TraceContext;

/// Returns the trace context of a request. Trace headers are optional, so unreadable ones are ignored.
pub(crate) fn in_headers(headers: &HeaderMap) -> Option<Box<TraceContext>> {
    let mut parents = headers.get_all("traceparent").iter();
    let (parent, None) = (parents.next()?, parents.next()) else { return None };
    let state = joined(headers.get_all("tracestate"));
    TraceContext::of_headers(parent.to_str().ok()?, state.as_deref()).map(Box::new)
}

/// Adds the trace of the request to a submission that names none.
pub(crate) fn within(args: SubmitArgs, around: &Option<Box<TraceContext>>) -> SubmitArgs {
    SubmitArgs { trace: args.trace.or_else(|| around.clone()), ..args }
}

/// Joins a list that may span several headers. Returns `None` if there is none, or if one of them is not text.
fn joined(states: GetAll<HeaderValue>) -> Option<String> {
    let states: Vec<_> = states.iter().map(HeaderValue::to_str).collect::<Result<_, _>>().ok()?;
    (!states.is_empty()).then(|| states.join(","))
}
