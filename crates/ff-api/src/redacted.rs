//! Text that must not be shown: tokens and secrets in requests.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A text that neither `Debug` nor an error shows. The error about a value of another type does not show that value either.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RedactedText(pub String);

impl fmt::Debug for RedactedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, redacted", self.0.len())
    }
}

impl<'de> Deserialize<'de> for RedactedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("must be text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shows_it() {
        let unshown: RedactedText = serde_json::from_str("\"c0ffee\"").unwrap();
        assert!(!format!("{unshown:?}").contains("c0ffee"));
        assert_eq!(unshown.0, "c0ffee");
        for other in ["5551234", "[\"c0ffee\"]", "{\"c0ffee\":1}", "null"] {
            let error = serde_json::from_str::<RedactedText>(other).unwrap_err().to_string();
            assert!(error.starts_with("must be text") && !error.contains("c0ffee"), "{error}");
        }
    }
}
