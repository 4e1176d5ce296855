//! The form of an approval page, as a browser sends it.

use axum::extract::Request;
use ff_core::engine_error::{Code, Refusal};
use ff_core::limits;
use ff_core::signal::Signal;
use ff_core::types::SignalName;

use super::budget::Addition;
use crate::request::body::arrived;
use crate::request::params::Fields;
use crate::response::problem::Problem;

/// A decision on an approval page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Approve,
    Reject,
}

impl Answer {
    /// Returns the word in the form.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }

    /// Returns the name of the signal that the execution gets.
    pub(super) fn signal(self) -> SignalName {
        let name = match self {
            Self::Approve => Signal::APPROVED,
            Self::Reject => Signal::REJECTED,
        };
        SignalName::parse(name).unwrap_or_else(|error| unreachable!("{name} is a name: {error}"))
    }

    /// Returns the answer that a signal stands for, if any.
    pub(super) fn of(signal: &SignalName) -> Option<Self> {
        [Self::Approve, Self::Reject].into_iter().find(|answer| answer.signal() == *signal)
    }
}

/// A submitted form.
pub(super) struct Form {
    pub(super) token: String,
    pub(super) answer: Answer,
    pub(super) comment: Option<String>,
    /// The additions to budgets; empty unless the answer approves.
    pub(super) additions: Vec<Addition>,
}

impl Form {
    /// Reads a form. Refuses unknown fields and fields over their limit.
    pub(super) async fn read(request: Request) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Fields::of(&parts.uri)?.done()?;
        let bytes = arrived(&parts, body, limits::CONTROL_BODY_BYTES).await?;
        Ok(Self::parse(&bytes)?)
    }

    fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(bytes).map_err(|_| Refusal::invalid("form", "must be text"))?;
        let mut fields = Fields::of_form(text)?;
        let token = fields.take("token").unwrap_or_default();
        let decision = fields.take("decision").unwrap_or_default();
        let answer = [Answer::Approve, Answer::Reject].into_iter().find(|answer| answer.word() == decision);
        let comment = fields.take("comment").map(|comment| comment.trim().to_owned());
        let mut additions = Vec::new();
        for field in fields.names(Addition::PREFIX) {
            additions.extend(Addition::read(&field, &fields.take(&field).unwrap_or_default())?);
        }
        fields.done()?;
        let comment = comment.filter(|comment| !comment.is_empty());
        if let Some(sent) = comment.as_ref().map(String::len).filter(|sent| *sent > limits::MESSAGE_BYTES) {
            return Err(Refusal::over_limit(Code::LimitExceeded, "comment", limits::MESSAGE_BYTES, sent));
        }
        let answer = answer.ok_or_else(|| Refusal::invalid("decision", "must be approve or reject"))?;
        additions.retain(|_| answer == Answer::Approve);
        Ok(Self { token, answer, comment, additions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let form = Form::parse(b"token=k1%3A00&comment=looks+good%2C%0D%0AZo%C3%AB&decision=approve").ok().unwrap();
        assert_eq!((form.token.as_str(), form.answer), ("k1:00", Answer::Approve));
        assert_eq!(form.comment.as_deref(), Some("looks good,\r\nZoë"));
        let silent = Form::parse(b"token=&comment=+&decision=reject").ok().unwrap();
        assert_eq!((silent.answer, silent.comment), (Answer::Reject, None));
        let added = |decision: &str| {
            let text = format!("token=k&add%3Aagent%3Atokens=500&add%3Aagent%3Ausd=&decision={decision}");
            Form::parse(text.as_bytes()).ok().unwrap().additions.len()
        };
        assert_eq!((added("approve"), added("reject")), (1, 0));
    }

    #[test]
    fn a_form_that_is_not_ours_is_refused() {
        let long = format!("decision=approve&comment={}", "x".repeat(limits::MESSAGE_BYTES + 1));
        for (text, field) in [
            ("", "decision"),
            ("decision=maybe", "decision"),
            ("decision=approve&decision=reject", "decision"),
            ("decision=approve&colour=red", "colour"),
            (&long, "comment"),
        ] {
            let refusal = Form::parse(text.as_bytes()).err().unwrap();
            assert_eq!(refusal.field.as_deref(), Some(field), "{text}");
        }
        assert!(Form::parse(b"decision=\xff").is_err());
    }
}
