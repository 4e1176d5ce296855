//! The trace of what is submitted: said on the command line, or found in the environment.

use clap::Args;
use ff_core::trace::TraceContext;

use crate::exit::Usage;

/// Which trace a submission is part of.
#[derive(Args)]
pub(crate) struct Traced {
    /// The trace it is part of, as a W3C traceparent; TRACEPARENT unless said
    #[arg(long, value_name = "HEADER")]
    traceparent: Option<String>,

    /// What goes with the traceparent, as a W3C tracestate
    #[arg(long, value_name = "HEADER", requires = "traceparent")]
    tracestate: Option<String>,
}

impl Traced {
    /// The trace that was said, which must be sound; otherwise the one this program itself is part of, if that can be read.
    pub(crate) fn read(self) -> anyhow::Result<Option<Box<TraceContext>>> {
        if let Some(parent) = self.traceparent {
            let read = TraceContext::parse(&parent, self.tracestate.as_deref());
            return Ok(Some(Box::new(read.map_err(|refusal| Usage(refusal.to_string()))?)));
        }
        let found = std::env::var("TRACEPARENT").ok();
        let state = std::env::var("TRACESTATE").ok();
        Ok(found.and_then(|parent| TraceContext::of_headers(&parent, state.as_deref())).map(Box::new))
    }
}
