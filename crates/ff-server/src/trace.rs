//! The trace a request is part of, as its headers say it.

use axum::http::header::GetAll;
use axum::http::{HeaderMap, HeaderValue};
use ff_core::contracts::SubmitArgs;
use ff_core::trace::TraceContext;

/// The trace of a request. Trace headers are optional, so unreadable ones are ignored.
pub(crate) fn in_headers(headers: &HeaderMap) -> Option<Box<TraceContext>> {
    let mut parents = headers.get_all("traceparent").iter();
    let (parent, None) = (parents.next()?, parents.next()) else { return None };
    let state = joined(headers.get_all("tracestate"));
    TraceContext::of_headers(parent.to_str().ok()?, state.as_deref()).map(Box::new)
}

/// Work in the trace it names itself, otherwise in that of the request it came with.
pub(crate) fn within(args: SubmitArgs, around: &Option<Box<TraceContext>>) -> SubmitArgs {
    SubmitArgs { trace: args.trace.or_else(|| around.clone()), ..args }
}

/// A list may come in several headers; one of them that is no text makes none of it.
fn joined(states: GetAll<HeaderValue>) -> Option<String> {
    let states: Vec<_> = states.iter().map(HeaderValue::to_str).collect::<Result<_, _>>().ok()?;
    (!states.is_empty()).then(|| states.join(","))
}
