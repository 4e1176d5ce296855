//! A trace on the wire.

use ff_core::engine_error::Refusal;
use ff_core::trace::TraceContext;
use serde::{Deserialize, Serialize};

use crate::Strict;

/// The trace of a submission. The fields have the form of the W3C headers of the same names.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    pub traceparent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}

/// Makes the request form of a trace.
pub(crate) fn sent(trace: Option<&TraceContext>) -> Option<Strict<Trace>> {
    let (traceparent, tracestate) = trace.map(|trace| (trace.traceparent(), trace.tracestate()))?;
    Some(Strict(Trace { traceparent: traceparent.to_owned(), tracestate: tracestate.map(str::to_owned) }))
}

/// Reads a trace. The refusal names the invalid field.
pub(crate) fn read(sent: Option<Strict<Trace>>) -> Result<Option<Box<TraceContext>>, Refusal> {
    let Some(Strict(sent)) = sent else { return Ok(None) };
    let read = TraceContext::parse(&sent.traceparent, sent.tracestate.as_deref());
    read.map(|trace| Some(Box::new(trace))).map_err(|refusal| {
        let field = format!("trace.{}", refusal.field.clone().unwrap_or_default());
        refusal.at(field)
    })
}
