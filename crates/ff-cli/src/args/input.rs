//! Values on the command line, in a file, or on standard input.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use bytes::Bytes;
use clap::Args;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::trace::TraceContext;
use ff_core::types::ContentType;
use serde::de::IgnoredAny;

use crate::exit::Usage;

/// The source of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Here(String),
    File(PathBuf),
    Stdin,
}

impl FromStr for Input {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix('@') {
            Some(path) => Self::File(path.into()),
            None if text == "-" => Self::Stdin,
            None => Self::Here(text.to_owned()),
        })
    }
}

/// Parses a whole number.
pub(crate) fn whole<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "must be a whole number, and not too large")
}

/// Parses the cursor of an earlier page, at which a listing continues.
pub(crate) fn cursor<C: FromStr>(text: &str) -> Result<C, &'static str> {
    text.parse().map_err(|_| "must be a cursor that an earlier page of this listing ended with")
}

impl Input {
    /// Returns the source for a path; `-` means standard input.
    pub(crate) fn path(file: &Path) -> Self {
        if file == Path::new("-") { Self::Stdin } else { Self::File(file.to_owned()) }
    }

    /// Returns the value as a payload with unchanged bytes. The default content type is JSON, which must be valid.
    pub(crate) fn payload(self, content_type: Option<ContentType>) -> anyhow::Result<Payload> {
        let bytes = self.bytes("payload", limits::PAYLOAD_BYTES)?;
        let content_type = content_type.unwrap_or_else(ContentType::json);
        if content_type.is_json()
            && let Err(error) = serde_json::from_slice::<IgnoredAny>(&bytes)
        {
            let how = "quote it for the shell, as in --payload '{\"hi\":1}', or say what it is with --content-type text/plain";
            return Err(Usage(format!("payload: must be JSON: {error}\n  {how}")).into());
        }
        Ok(Payload::new(content_type, bytes))
    }

    /// Parses the value as a policy.
    pub(crate) fn policy(self) -> anyhow::Result<Policy> {
        let bytes = self.bytes("policy", limits::CONTROL_BODY_BYTES)?;
        Policy::parse(&bytes).map_err(|refusal| Usage::from(refusal).into())
    }

    /// Returns the value as text of at most this many bytes.
    pub(crate) fn text(self, most: usize) -> anyhow::Result<String> {
        let bytes = self.bytes("file", most)?;
        String::from_utf8(bytes.into()).map_err(|error| Usage(format!("file: must be UTF-8 text: {error}")).into())
    }

    fn bytes(self, what: &str, most: usize) -> anyhow::Result<Bytes> {
        let place = match &self {
            Self::Here(_) => String::new(),
            Self::File(path) => format!(" in {}", path.display()),
            Self::Stdin => " on standard input".to_owned(),
        };
        let bytes = match self {
            Self::Here(text) => text.into_bytes(),
            Self::File(path) => {
                let file = File::open(&path);
                let file = file.map_err(|error| Usage(format!("{what}: cannot open {}: {error}", path.display())))?;
                read(file, most).with_context(|| format!("{what}: cannot read {}", path.display()))?
            }
            Self::Stdin => read(stdin().lock(), most).context("cannot read standard input")?,
        };
        if bytes.len() > most {
            let more = if place.is_empty() { bytes.len().to_string() } else { "more".to_owned() };
            return Err(Usage(format!("{what}: must be at most {most} bytes, and there are {more}{place}")).into());
        }
        Ok(bytes.into())
    }
}

/// Reads the whole source, but at most one byte more than allowed, which shows that it is too large.
fn read(source: impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Which trace a submission is part of.
#[derive(Args)]
pub(crate) struct TraceArgs {
    /// W3C traceparent of the submission (default: TRACEPARENT)
    #[arg(long, value_name = "HEADER")]
    traceparent: Option<String>,

    /// W3C tracestate that belongs to the traceparent
    #[arg(long, value_name = "HEADER", requires = "traceparent")]
    tracestate: Option<String>,
}

impl TraceArgs {
    /// Returns the given trace, which must be valid; otherwise the trace in the environment of this process, if it is valid.
    pub(crate) fn read(self) -> anyhow::Result<Option<Box<TraceContext>>> {
        if let Some(parent) = self.traceparent {
            let read = TraceContext::parse(&parent, self.tracestate.as_deref());
            return Ok(Some(Box::new(read.map_err(Usage::from)?)));
        }
        let found = std::env::var("TRACEPARENT").ok();
        let state = std::env::var("TRACESTATE").ok();
        Ok(found.and_then(|parent| TraceContext::of_headers(&parent, state.as_deref())).map(Box::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(text: &str) -> Input {
        Input::Here(text.to_owned())
    }

    #[test]
    fn the_first_character_says_where_a_value_comes_from() {
        for (text, input) in
            [("@a.json", Input::File("a.json".into())), ("-", Input::Stdin), ("-1", here("-1")), ("{}", here("{}"))]
        {
            assert_eq!(text.parse(), Ok(input), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_spelling() {
        let payload = here("{ \"a\": 1.0 }\n").payload(None).unwrap();
        assert_eq!(payload, Payload::json("{ \"a\": 1.0 }\n"));
    }

    #[test]
    fn a_payload_that_is_not_json_needs_a_content_type() {
        for text in ["{hi:1}", "", "hello", "1 2"] {
            let error = here(text).payload(None).unwrap_err();
            assert!(error.is::<Usage>() && error.to_string().contains("--content-type text/plain"), "{error}");
        }
        let text = ContentType::parse("text/plain").unwrap();
        assert_eq!(here("hello").payload(Some(text.clone())).unwrap(), Payload::new(text, "hello"));
    }

    #[test]
    fn a_payload_is_taken_at_its_limit_and_refused_one_past_it() {
        let bytes = Some(ContentType::bytes());
        assert!(here(&"x".repeat(limits::PAYLOAD_BYTES)).payload(bytes.clone()).is_ok());
        assert!(here(&"x".repeat(limits::PAYLOAD_BYTES + 1)).payload(bytes).unwrap_err().is::<Usage>());
    }
}
