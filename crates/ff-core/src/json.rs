//! Parses JSON that people write: an error names the field that is wrong.

use serde::Deserializer;
use serde::de::DeserializeOwned;

use crate::engine_error::{Code, Refusal};

/// Parses a value, or returns which field is wrong and why.
///
/// An unknown field has its own code, because it is usually a misspelling.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // Tracking the path takes twice as long, so only invalid input is read that way.
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = read_from(&mut json)?;
    json.end().map_err(|error| not_json(&error.to_string()))?;
    Ok(value)
}

/// Deserializes a value from any source, with the same errors.
pub fn read_from<'de, T, D>(source: D) -> Result<T, Refusal>
where
    T: DeserializeOwned,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize(source).map_err(refusal)
}

fn refusal(error: serde_path_to_error::Error<serde_json::Error>) -> Refusal {
    let path = error.path().to_string();
    let error = error.into_inner();
    let message = error.to_string();
    let quoted = |after: &str| message.strip_prefix(after).and_then(|rest| rest.split('`').next()).map(str::to_owned);
    let parent = if path == "." { String::new() } else { path };
    if let Some(name) = quoted("unknown field `") {
        // The path of an unknown field may already end with its name.
        let field = if last_part(&parent) == name { parent } else { join(&parent, &name) };
        return Refusal::new(Code::UnknownField).at(field).because(without_position(&message));
    }
    if let Some(name) = quoted("missing field `") {
        return Refusal::new(Code::InvalidInput).at(join(&parent, &name)).because("is required");
    }
    if error.is_syntax() || error.is_eof() {
        return not_json(&message);
    }
    let detail = without_position(&message);
    let worded = match detail.strip_prefix("UUID parsing failed: ") {
        Some(why) => format!("must be a UUID: {why}"),
        None => detail.to_owned(),
    };
    let mut refusal = Refusal::new(Code::InvalidInput).because(worded);
    if let Some(passed) = limit_in(detail) {
        refusal.code = Code::LimitExceeded;
        refusal.limit = Some(passed);
    }
    if parent.is_empty() { refusal } else { refusal.at(parent) }
}

fn not_json(why: &str) -> Refusal {
    Refusal::new(Code::InvalidJson).because(format!("must be JSON: {why}"))
}

/// Returns the limit that a value exceeded and the value that was sent, from the error texts of names, texts and priorities.
fn limit_in(detail: &str) -> Option<(u64, u64)> {
    let (bound, sent) = detail.split_once(", got ")?;
    let limit = match bound.strip_prefix("must be at most ") {
        Some(most) => most.strip_suffix(" bytes")?,
        None => bound.strip_prefix("must be from 0 to ")?,
    };
    Some((limit.parse().ok()?, sent.parse().ok()?))
}

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// Removes "at line 1 column 20" from a message, because the name of the field is more useful.
fn without_position(message: &str) -> &str {
    message.split(" at line ").next().unwrap_or(message)
}

/// Returns whether a field has its default value, and need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[allow(dead_code)]
        kind: String,
        #[allow(dead_code)]
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)]
        count: u32,
    }

    fn error(text: &str) -> Refusal {
        read::<Outer>(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn an_error_names_its_field() {
        let unknown = error(r#"{"kind":"a","knd":1}"#);
        assert_eq!((unknown.code, unknown.field.as_deref()), (Code::UnknownField, Some("knd")));
        let nested = error(r#"{"kind":"a","inner":{"count":1,"cuont":2}}"#);
        assert_eq!((nested.code, nested.field.as_deref()), (Code::UnknownField, Some("inner.cuont")));
        let missing = error(r#"{"inner":{"count":1}}"#);
        assert_eq!((missing.code, missing.field.as_deref()), (Code::InvalidInput, Some("kind")));
        let wrong = error(r#"{"kind":"a","inner":{"count":"x"}}"#);
        assert_eq!((wrong.code, wrong.field.as_deref()), (Code::InvalidInput, Some("inner.count")));
    }

    #[test]
    fn a_value_over_its_limit_says_the_limit() {
        #[derive(Debug, Deserialize)]
        struct Sample {
            #[allow(dead_code)]
            lane: Option<crate::types::LaneId>,
            #[allow(dead_code)]
            priority: Option<crate::types::Priority>,
        }

        let error = |text: &str| read::<Sample>(text.as_bytes()).unwrap_err();
        let long = error(&format!(r#"{{"lane":"{}"}}"#, "l".repeat(65)));
        assert_eq!((long.code, long.field.as_deref()), (Code::LimitExceeded, Some("lane")));
        assert_eq!(long.limit, Some((64, 65)));
        let high = error(r#"{"priority":9001}"#);
        assert_eq!((high.code, high.limit), (Code::LimitExceeded, Some((9_000, 9_001))));
        assert_eq!(error(r#"{"priority":-1}"#).code, Code::InvalidInput);
        assert_eq!(error(r#"{"lane":"a b"}"#).code, Code::InvalidInput);
    }

    #[test]
    fn text_that_is_not_json_is_called_that() {
        for text in ["", "{", r#"{"kind":"a"} x"#, r#"{"kind":}"#] {
            assert_eq!(error(text).code, Code::InvalidJson, "{text:?}");
        }
    }
}
