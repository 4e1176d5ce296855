//! Text that is checked once, when it is made: a value of such a type needs no further check.

/// Why a text cannot be the name, key or value it was meant to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// There is nothing in it.
    #[error("must not be empty")]
    Empty,
    /// It is past the limit of its type.
    #[error("must be at most {limit} bytes, got {sent}")]
    TooLong {
        /// The most bytes it may have.
        limit: usize,
        /// How many it has.
        sent: usize,
    },
    /// A name has a character that names do not have.
    #[error("may hold only letters, digits, '.', '_' and '-', not {0:?}")]
    BadCharacter(char),
    /// The id of a key has a character that could be written in another way, or ends it.
    #[error("may hold only lower-case letters and digits, not {0:?}")]
    NotInAKeyId(char),
    /// A text has a character that cannot be printed.
    #[error("may hold only printable text, not the control character {0:?}")]
    Control(char),
    /// The name of a secret has a colon, where its name would end in a token.
    #[error("may not hold a colon")]
    Colon,
    /// A capability has a comma, which stands between two of them.
    #[error("may not hold a comma")]
    Comma,
    /// A capability has a space, which ends it where several words stand in a line.
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

/// One type of text per row, each with its limit, all with the same refused characters. None may be empty, unless the first line
/// says that there need not be a byte.
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
            /// The text as this type, or its error.
            pub fn parse(text: &str) -> Result<Self, BadText> {
                super::checked_text::check(text, ($least, $limit), $refused)?;
                Ok(Self(text.into()))
            }

            /// The text itself.
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

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::schema::text($least, $limit, stringify!($refused))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(super) use checked_text;
