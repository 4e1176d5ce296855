//! Errors, in one table: a stable code, its class, its HTTP status and a sentence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::state::PublicState;
use crate::types::TimestampMs;

/// What a caller should do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Retrying the same request cannot succeed.
    Terminal,
    /// Retrying later may succeed.
    Retryable,
    /// A limit asks the caller to stop.
    Cooperative,
    /// Nothing had to be done; the caller may continue.
    Informational,
    /// A bug in the engine or in its caller.
    Bug,
    /// Something is absent, as it normally can be.
    Expected,
    /// Worth a warning only.
    SoftError,
}

macro_rules! error_table {
    ($($variant:ident $code:literal $class:ident $status:literal $sentence:literal;)*) => {
        /// A stable error code. Programs may rely on its text; people read the sentence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $sentence] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class),* }
            }

            pub fn http_status(self) -> u16 {
                match self { $(Self::$variant => $status),* }
            }

            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }

            pub fn from_code(text: &str) -> Option<Self> {
                match text { $($code => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

include!("table.rs");

impl Code {
    /// Returns a refusal with this code and without details.
    pub fn refusal(self) -> Refusal {
        Refusal::new(self)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The refusal of a request that the engine understood and does not execute. Nothing was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: Code,
    /// The exact problem, when the code's sentence is not enough.
    pub detail: Option<String>,
    /// The field of the request that was wrong.
    pub field: Option<String>,
    /// The limit that was violated, and the value that was sent.
    pub limit: Option<(u64, u64)>,
    /// State of the execution, if that is the reason.
    pub state: Option<PublicState>,
    /// The time at which a retry may succeed.
    pub retry_at: Option<TimestampMs>,
}

impl Refusal {
    pub fn new(code: Code) -> Self {
        Self { code, detail: None, field: None, limit: None, state: None, retry_at: None }
    }

    /// Returns the refusal of an invalid field.
    pub fn invalid(field: impl Into<String>, detail: impl fmt::Display) -> Self {
        Self::new(Code::InvalidInput).at(field).because(detail)
    }

    /// Returns the refusal of a field that exceeds its limit.
    pub fn over_limit<N>(code: Code, field: impl Into<String>, limit: N, sent: N) -> Self
    where
        N: TryInto<u64> + fmt::Display + Copy,
    {
        let mut refusal = Self::new(code).at(field).because(format!("must be at most {limit}, got {sent}"));
        refusal.limit = limit.try_into().ok().zip(sent.try_into().ok());
        refusal
    }

    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub fn because(mut self, detail: impl fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    pub fn in_state(mut self, state: PublicState) -> Self {
        self.state = Some(state);
        self
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code)?;
        match (&self.field, &self.detail) {
            (Some(field), Some(detail)) => write!(f, "{field}: {detail}"),
            (Some(field), None) => write!(f, "{} ({field})", self.code.sentence()),
            (None, Some(detail)) => f.write_str(detail),
            (None, None) => f.write_str(self.code.sentence()),
        }
    }
}

impl std::error::Error for Refusal {}

/// Refuses a page size of 0 or above `most`.
pub(crate) fn check_page(limit: usize, most: usize) -> Result<(), Refusal> {
    match limit {
        0 => Err(Refusal::invalid("limit", "must be at least 1")),
        sent => check_limit(Code::LimitExceeded, "limit", most, sent),
    }
}

/// Refuses a value above `limit`.
pub(crate) fn check_limit<N>(code: Code, field: impl Into<String>, limit: N, sent: N) -> Result<(), Refusal>
where
    N: TryInto<u64> + fmt::Display + Copy + PartialOrd,
{
    if sent > limit { Err(Refusal::over_limit(code, field, limit, sent)) } else { Ok(()) }
}

/// Refuses a number below `low` or above `high`.
pub(crate) fn check_range(field: &str, sent: u64, low: u64, high: u64) -> Result<(), Refusal> {
    if (low..=high).contains(&sent) {
        return Ok(());
    }
    let mut refusal = Refusal::new(Code::LimitExceeded).at(field);
    refusal.limit = Some((if sent < low { low } else { high }, sent));
    Err(refusal.because(format!("must be from {low} to {high}, got {sent}")))
}

/// An error of a backend call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The engine refused the request and wrote nothing.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store cannot be reached. It did not receive the request.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store did not answer the request and may have executed it. Retrying is safe.
    #[error("the outcome is unknown, ask again: {0}")]
    Unknown(String),
    /// The store contains data that cannot be read.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),
}

impl EngineError {
    /// Returns the code that callers see.
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Unavailable(_) => Code::StoreUnavailable,
            Self::Unknown(_) => Code::OutcomeUnknown,
            Self::Corrupt(_) => Code::Corruption,
        }
    }
}

impl From<Code> for EngineError {
    fn from(code: Code) -> Self {
        Self::Refused(code.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_reads_back_as_itself_and_is_listed_once() {
        let texts: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(Code::from_code(code.as_str()), Some(*code));
        }
    }

    #[test]
    fn every_sentence_is_a_sentence_and_every_status_an_error() {
        for code in Code::ALL {
            assert!(code.sentence().ends_with('.'), "{code}");
            assert!((400..600).contains(&code.http_status()), "{code}");
        }
    }

    #[test]
    fn a_refusal_names_the_field_and_the_limit() {
        let refusal = Refusal::over_limit(Code::PayloadTooLarge, "payload", 10, 11);
        assert_eq!(refusal.to_string(), "payload_too_large: payload: must be at most 10, got 11");
        assert_eq!(refusal.limit, Some((10, 11)));
    }
}
