//! Trace context in the format of the W3C: the trace to which a submission belongs, stored with the execution and
//! passed to its handler.

mod state;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;

/// The position of a submission in its submitter's trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawTrace")]
pub struct TraceContext {
    traceparent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracestate: Option<String>,
}

impl TraceContext {
    /// Parses a caller's trace context, or refuses it with the name of the field.
    ///
    /// ```
    /// use ff_core::trace::TraceContext;
    ///
    /// let trace = TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None).unwrap();
    /// assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
    /// assert!(trace.is_sampled());
    /// ```
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Result<Self, Refusal> {
        let why = |why: &str| Refusal::invalid("traceparent", why);
        let traceparent = parent(traceparent).map_err(why)?;
        let tracestate = tracestate.map(stated).transpose()?.flatten();
        Ok(Self { traceparent, tracestate })
    }

    /// Parses the headers. As the W3C requires, they never cause a refusal: an invalid `traceparent` means that there
    /// is no trace context, and an invalid `tracestate` is omitted.
    pub fn of_headers(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let traceparent = parent(traceparent.trim_matches([' ', '\t'])).ok()?;
        let tracestate = tracestate.and_then(|text| stated(text).ok()).flatten();
        Some(Self { traceparent, tracestate })
    }

    /// Returns the header to pass on: version, trace, parent and flags.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// Returns the vendor-specific data of tracing systems, which is passed on unchanged.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }

    /// Returns the id of the trace, as 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.traceparent[3..35]
    }

    /// Returns the id of the span that submitted the execution, as 16 hexadecimal digits.
    pub fn parent_id(&self) -> &str {
        &self.traceparent[36..52]
    }

    /// Returns whether the submitter records its trace.
    pub fn is_sampled(&self) -> bool {
        flags(&self.traceparent) & SAMPLED != 0
    }
}

/// A stored trace, before it is validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrace {
    traceparent: String,
    #[serde(default)]
    tracestate: Option<String>,
}

impl TryFrom<RawTrace> for TraceContext {
    type Error = Refusal;

    fn try_from(written: RawTrace) -> Result<Self, Refusal> {
        Self::parse(&written.traceparent, written.tracestate.as_deref())
    }
}

/// The length of a `traceparent` in the only version so far.
const PARENT_BYTES: usize = 55;
const SAMPLED: u8 = 1;
/// The flags of that version: sampled, and random trace id.
const KNOWN_FLAGS: u8 = 3;

/// Parses a `traceparent` in the known version. Of a later version, only the parts that every version has are used.
fn parent(text: &str) -> Result<String, &'static str> {
    const SHAPE: &str =
        "must be 00-, 32 digits of a trace, -, 16 of its parent, - and 2 of flags, in lower-case hexadecimal";
    let bytes = text.as_bytes();
    let known = bytes.get(..PARENT_BYTES).ok_or(SHAPE)?;
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let sound = known.iter().enumerate().all(|(at, byte)| match at {
        2 | 35 | 52 => *byte == b'-',
        _ => is_hex(byte),
    });
    if !sound {
        return Err(SHAPE);
    }
    let is_longer = bytes.len() > PARENT_BYTES;
    match &text[..2] {
        "ff" => return Err("must not be of version ff, which is none"),
        "00" if is_longer => return Err("must be 55 bytes long in version 00"),
        _ if is_longer && bytes[PARENT_BYTES] != b'-' => return Err("must have a - before what a later version adds"),
        _ => {}
    }
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    if is_zero(&text[3..35]) {
        return Err("must name a trace: its id is all zeros");
    }
    if is_zero(&text[36..52]) {
        return Err("must name a parent: its id is all zeros");
    }
    if text.starts_with("00") {
        return Ok(text.to_owned());
    }
    Ok(format!("00{}{:02x}", &text[2..53], flags(text) & KNOWN_FLAGS))
}

fn flags(parent: &str) -> u8 {
    u8::from_str_radix(&parent[53..PARENT_BYTES], 16).unwrap_or_default()
}

/// Returns a `tracestate` without spaces around members and without empty members; `None` when nothing is left.
fn stated(text: &str) -> Result<Option<String>, Refusal> {
    check_limit(Code::LimitExceeded, "tracestate", limits::TRACESTATE_BYTES, text.len())?;
    state::members(text).map_err(|why| Refusal::invalid("tracestate", why))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn refused(traceparent: &str, tracestate: Option<&str>) -> Refusal {
        assert_eq!(TraceContext::of_headers(traceparent, None).is_some(), tracestate.is_some(), "{traceparent}");
        TraceContext::parse(traceparent, tracestate).unwrap_err()
    }

    #[test]
    fn a_sound_context_says_its_parts() {
        let trace = TraceContext::parse(SOUND, Some("congo=t61rcWkgMzE")).unwrap();
        assert_eq!((trace.traceparent(), trace.tracestate()), (SOUND, Some("congo=t61rcWkgMzE")));
        assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(trace.parent_id(), "b7ad6b7169203331");
        assert!(trace.is_sampled());
        let quiet = TraceContext::parse(&SOUND.replace("-01", "-00"), None).unwrap();
        assert!(!quiet.is_sampled());
    }

    #[test]
    fn an_invalid_traceparent_is_refused_as_a_field_and_ignored_as_a_header() {
        let shortened = &SOUND[..54];
        let spaced = format!(" {SOUND}");
        let zero_trace = SOUND.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let zero_parent = SOUND.replace("b7ad6b7169203331", &"0".repeat(16));
        for bad in [
            "",
            "00",
            shortened,
            &SOUND.to_uppercase(),
            &SOUND.replace("0af", "0ag"),
            &SOUND.replacen('-', "_", 1),
            &SOUND.replacen("00", "ff", 1),
            &SOUND.replacen("00", "0F", 1),
            &format!("{SOUND}-"),
            &format!("{SOUND}0"),
            &format!("{}.more", SOUND.replacen("00", "01", 1)),
            &zero_trace,
            &zero_parent,
            &"é".repeat(40),
        ] {
            let refusal = refused(bad, None);
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("traceparent")), "{bad}");
        }
        assert!(TraceContext::parse(&spaced, None).is_err(), "a field has no space around it");
        assert!(TraceContext::of_headers(&spaced, None).is_some(), "a header may");
    }

    #[test]
    fn a_later_version_is_taken_for_what_is_known_of_it() {
        for later in [SOUND.replacen("00", "cc", 1), format!("{}-more.to come", SOUND.replacen("00", "01", 1))] {
            assert_eq!(TraceContext::parse(&later, None).unwrap().traceparent(), SOUND);
        }
        let flagged = SOUND.replacen("00", "01", 1).replace("-01", "-ff");
        assert_eq!(TraceContext::parse(&flagged, None).unwrap().traceparent(), SOUND.replace("-01", "-03"));
    }

    #[test]
    fn a_state_is_refused_by_name_and_left_out_of_headers() {
        let refusal = refused(SOUND, Some("no equals sign"));
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("tracestate")));
        let long = format!("a={}", "x".repeat(limits::TRACESTATE_BYTES));
        let refusal = refused(SOUND, Some(&long));
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((512, 514))));
        let trace = TraceContext::of_headers(SOUND, Some("no equals sign")).unwrap();
        assert_eq!((trace.traceparent(), trace.tracestate()), (SOUND, None));
    }

    #[test]
    fn a_stored_trace_context_is_read_back_unchanged() {
        for state in [None, Some("congo=1")] {
            let trace = TraceContext::parse(SOUND, state).unwrap();
            let text = serde_json::to_string(&trace).unwrap();
            assert_eq!(serde_json::from_str::<TraceContext>(&text).unwrap(), trace, "{text}");
        }
        assert!(serde_json::from_str::<TraceContext>(r#"{"traceparent":"00"}"#).is_err());
    }
}
