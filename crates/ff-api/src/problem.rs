//! Errors on the wire: a problem document with the stable code, the field and the limit.

use ff_core::engine_error::{Class, Code, EngineError, Refusal};
use ff_core::state::PublicState;
use ff_core::types::TimestampMs;

use crate::object::answers;

answers! {
    /// An error as `application/problem+json`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Problem {
        /// Path of the description of the code, relative to the server.
        #[serde(rename = "type")]
        pub about: String,
        /// Description of the code.
        pub title: String,
        pub status: u16,
        /// Stable error code. A newer server may send codes that a client does not know.
        pub code: String,
        pub class: Class,
        /// The exact problem, as a sentence about the field.
        pub detail: Option<String>,
        pub field: Option<String>,
        pub limit: Option<u64>,
        /// The value that was sent.
        pub sent: Option<u64>,
        /// State of the execution, if that is the reason.
        pub state: Option<PublicState>,
        pub retry_at: Option<TimestampMs>,
    }
}

impl Problem {
    fn of(code: Code) -> Self {
        Self {
            about: format!("/errors/{code}"),
            title: code.sentence().to_owned(),
            status: code.http_status(),
            code: code.to_string(),
            class: code.class(),
            detail: None,
            field: None,
            limit: None,
            sent: None,
            state: None,
            retry_at: None,
        }
    }

    /// Returns the error as a store in the same process returns it.
    ///
    /// A refusal certainly wrote nothing. After an internal error or a timeout of the server, the outcome is unknown.
    pub fn into_error(self) -> EngineError {
        let Some(code) = Code::from_code(&self.code) else {
            let detail = self.detail.unwrap_or(self.title);
            return EngineError::Unknown(format!("the server answered {} {}: {detail}", self.status, self.code));
        };
        let detail = || self.detail.clone().unwrap_or_else(|| self.title.clone());
        match code {
            Code::StoreUnavailable | Code::ShuttingDown => EngineError::Unavailable(detail()),
            Code::OutcomeUnknown | Code::RequestTimeout | Code::Internal => EngineError::Unknown(detail()),
            Code::Corruption => EngineError::Corrupt(detail()),
            _ => EngineError::Refused(Refusal {
                code,
                detail: without_field(self.detail, self.field.as_deref()),
                field: self.field,
                limit: self.limit.zip(self.sent),
                state: self.state,
                retry_at: self.retry_at,
            }),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self {
            detail: with_field(refusal.detail, refusal.field.as_deref()),
            field: refusal.field,
            limit: refusal.limit.map(|(limit, _)| limit),
            sent: refusal.limit.map(|(_, sent)| sent),
            state: refusal.state,
            retry_at: refusal.retry_at,
            ..Self::of(refusal.code)
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let code = error.code();
        match error {
            EngineError::Refused(refusal) => refusal.into(),
            EngineError::Unavailable(detail) | EngineError::Unknown(detail) | EngineError::Corrupt(detail) => {
                Self { detail: Some(detail), ..Self::of(code) }
            }
        }
    }
}

/// Puts the field in front of a detail, which is a sentence about the field and does not name it.
fn with_field(detail: Option<String>, field: Option<&str>) -> Option<String> {
    match (detail, field) {
        (Some(detail), Some(field)) => Some(format!("{field}: {detail}")),
        (detail, _) => detail,
    }
}

fn without_field(detail: Option<String>, field: Option<&str>) -> Option<String> {
    let detail = detail?;
    let rest = field.and_then(|field| detail.strip_prefix(field)?.strip_prefix(": ").map(str::to_owned));
    Some(rest.unwrap_or(detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn travelled(error: EngineError) -> EngineError {
        let text = serde_json::to_string(&Problem::from(error)).unwrap();
        serde_json::from_str::<Problem>(&text).unwrap().into_error()
    }

    #[test]
    fn a_refusal_arrives_as_it_was_sent() {
        let mut full = Refusal::over_limit(Code::LimitExceeded, "tags", 32, 33).in_state(PublicState::Active);
        full.retry_at = Some(TimestampMs(5));
        let bare = Code::StaleLease.refusal();
        let about = Code::InvalidCursor.refusal().at("cursor");
        let with_detail = Code::ExecutionNotActive.refusal().because("the execution is failed");
        for refusal in [full, bare, about, with_detail] {
            assert_eq!(travelled(refusal.clone().into()), EngineError::Refused(refusal));
        }
    }

    #[test]
    fn failures_other_than_refusals_are_not_read_as_refusals() {
        for error in [
            EngineError::Unavailable("gone".into()),
            EngineError::Unknown("no answer".into()),
            EngineError::Corrupt("torn".into()),
        ] {
            assert_eq!(travelled(error.clone()), error);
        }
        assert!(matches!(travelled(Code::Internal.into()), EngineError::Unknown(_)));
        assert!(matches!(travelled(Code::RequestTimeout.into()), EngineError::Unknown(_)));
        assert!(matches!(travelled(Code::ShuttingDown.into()), EngineError::Unavailable(_)));
    }

    #[test]
    fn a_detail_reads_as_a_sentence_about_its_field() {
        let problem = Problem::from(Refusal::over_limit(Code::PayloadTooLarge, "payload", 10, 11));
        assert_eq!(problem.detail.as_deref(), Some("payload: must be at most 10, got 11"));
        assert_eq!((problem.status, problem.limit, problem.sent), (413, Some(10), Some(11)));
    }

    #[test]
    fn an_unknown_code_of_a_newer_server_is_kept_in_the_error() {
        let mut problem = Problem::from(Code::StaleLease.refusal());
        problem.code = "unheard_of".into();
        assert!(problem.into_error().to_string().contains("unheard_of"));
    }
}
