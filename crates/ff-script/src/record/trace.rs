//! The trace of an execution or a flow: two fields, absent if it was submitted outside a trace.

use ff_core::trace::TraceContext;

use super::Hash;
use crate::{Fields, ScriptError};

/// Returns the two fields as functions take them.
pub(crate) fn trace_fields(trace: Option<&TraceContext>) -> (Option<String>, Option<String>) {
    let traceparent = trace.map(|trace| trace.traceparent().to_owned());
    (traceparent, trace.and_then(TraceContext::tracestate).map(str::to_owned))
}

/// Reads the trace of a record.
pub(crate) fn trace_of(core: &Hash) -> Result<Option<Box<TraceContext>>, ScriptError> {
    let Some(traceparent) = core.text("traceparent")? else { return Ok(None) };
    read(traceparent, core.text("tracestate")?).map(Some)
}

/// Reads the trace of an answer.
pub(crate) fn read_trace(mut fields: Fields) -> Result<Box<TraceContext>, ScriptError> {
    let traceparent = fields.text()?;
    let tracestate = if fields.is_empty() { None } else { Some(fields.text()?) };
    read(&traceparent, tracestate.as_deref())
}

fn read(traceparent: &str, tracestate: Option<&str>) -> Result<Box<TraceContext>, ScriptError> {
    let trace = TraceContext::parse(traceparent, tracestate);
    trace.map(Box::new).map_err(|refusal| ScriptError::parse(format!("a trace cannot be read: {refusal}")))
}
