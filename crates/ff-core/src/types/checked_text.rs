//! Text that is checked once, when it is created: a value of such a type needs no further check.

/// The reason why a text is not a valid name, key or value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// The text is empty.
    #[error("must not be empty")]
    Empty,
    /// The text exceeds the limit of its type.
    #[error("must be at most {limit} bytes, got {sent}")]
    TooLong {
        /// Maximum number of bytes.
        limit: usize,
        /// Number of bytes of the text.
        sent: usize,
    },
    /// A name contains a character that is not allowed in names.
    #[error("may hold only letters, digits, '.', '_' and '-', not {0:?}")]
    BadCharacter(char),
    /// The id of a key contains a character that has another spelling, or that ends the id.
    #[error("may hold only lower-case letters and digits, not {0:?}")]
    NotInAKeyId(char),
    /// A text contains a character that cannot be printed.
    #[error("may hold only printable text, not the control character {0:?}")]
    Control(char),
    /// The name of a secret contains a colon, which would end the name in a token.
    #[error("may not hold a colon")]
    Colon,
    /// A capability contains a comma, which separates capabilities.
    #[error("may not hold a comma")]
    Comma,
    /// A capability contains a space, which separates words in a line.
    #[error("may not hold a space")]
    Space,
}

/// Checks a text against its limit and, character by character, against the refused characters of its type.
pub(super) fn check(
    text: &str,
    (least, limit): (usize, usize),
    refused: fn(char) -> Option<BadText>,
) -> Result<(), BadText> {
    if text.len() < least {
        return Err(BadText::Empty);
    }
    if text.len() > limit {
        return Err(BadText::TooLong { limit, sent: text.len() });
    }
    text.chars().find_map(refused).map_or(Ok(()), Err)
}

/// Defines one type of text per row, each with its limit, all with the same refused characters. None may be empty,
/// unless the first line says `from 0 bytes`.
macro_rules! checked_text {
    ($refused:ident: $($rows:tt)*) => {
        checked_text! { $refused, from 1 bytes: $($rows)* }
    };
    ($refused:ident, from $least:literal bytes: $($(#[$doc:meta])* $name:ident, at most $limit:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Parses the text.
            pub fn parse(text: &str) -> Result<Self, BadText> {
                super::checked_text::check(text, ($least, $limit), $refused)?;
                Ok(Self(text.into()))
            }

            /// Returns the text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadText;

            fn from_str(text: &str) -> Result<Self, BadText> {
                Self::parse(text)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::types::schema::text($least, $limit, stringify!($refused))
            }
        }

        crate::types::from_text!($name);
    )*};
}
pub(super) use checked_text;

/// Implements `Deserialize` for values that are parsed from text.
macro_rules! from_text {
    ($($name:ident),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use from_text;

/// Implements serde for values that are text in JSON.
macro_rules! as_text {
    ($($name:ident),*) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*

        crate::types::from_text!($($name),*);
    };
}
pub(crate) use as_text;
