//! Free text people choose: printable, bounded, and only ever the last part of a key.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::limits;

/// A text that is empty, too long, or holds a control character.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    #[error("must not be empty")]
    Empty,
    #[error("must be at most {limit} bytes, got {sent}")]
    TooLong { limit: usize, sent: usize },
    #[error("may hold only printable text, not the control character {0:?}")]
    Control(char),
}

fn check_text(text: &str, limit: usize) -> Result<(), BadText> {
    if text.is_empty() {
        return Err(BadText::Empty);
    }
    if text.len() > limit {
        return Err(BadText::TooLong { limit, sent: text.len() });
    }
    match text.chars().find(|c| c.is_control()) {
        Some(bad) => Err(BadText::Control(bad)),
        None => Ok(()),
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident, at most $limit:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, BadText> {
                check_text(text, $limit)?;
                Ok(Self(text.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadText;

            fn from_str(text: &str) -> Result<Self, BadText> {
                Self::parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

texts! {
    /// What makes two submissions the same submission.
    IdempotencyKey, at most limits::TEXT_BYTES;
    /// The value of a label.
    TagValue, at most limits::TEXT_BYTES;
    /// The name outsiders know a waitpoint by.
    WaitpointKey, at most limits::TEXT_BYTES;
    /// What kind of bytes a payload holds, as a media type.
    ContentType, at most limits::NAME_BYTES;
}

impl ContentType {
    /// JSON, as the HTTP API takes and gives it.
    pub fn json() -> Self {
        Self("application/json".into())
    }

    /// Bytes of which nothing is known.
    pub fn bytes() -> Self {
        Self("application/octet-stream".into())
    }

    pub fn is_json(&self) -> bool {
        let essence = self.0.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!(TagValue::parse(&"v".repeat(256)).is_ok());
        assert_eq!(TagValue::parse(&"v".repeat(257)), Err(BadText::TooLong { limit: 256, sent: 257 }));
        assert_eq!(TagValue::parse(""), Err(BadText::Empty));
    }

    #[test]
    fn control_characters_are_refused_and_other_scripts_are_not() {
        assert_eq!(IdempotencyKey::parse("a\0b"), Err(BadText::Control('\0')));
        assert_eq!(IdempotencyKey::parse("a\nb"), Err(BadText::Control('\n')));
        assert!(IdempotencyKey::parse("bestellung:{42} für Zoë").is_ok());
    }
}
