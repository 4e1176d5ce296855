//! Resume policies of suspensions. Every field is honoured or refused.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::state::text_enum;

/// What happens when a suspension ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResumePolicy {
    /// Delay before a worker can claim it again.
    pub resume_delay_ms: u64,
    /// Which signals the worker receives.
    pub signals: SignalSelection,
}

text_enum! {
    /// Which signals the worker receives when its execution resumes.
    SignalSelection {
        /// Signals that met the condition.
        Matched "matched",
        /// All signals at the suspension's waitpoints; those that met the condition come first.
        All "all",
    }
}

#[allow(clippy::derivable_impls, reason = "the vocabulary is made by a macro that knows no default")]
impl Default for SignalSelection {
    fn default() -> Self {
        Self::Matched
    }
}

impl ResumePolicy {
    /// Parses a policy. Refuses unknown fields and invalid values.
    pub fn parse(json: &[u8]) -> Result<Self, Refusal> {
        let policy: Self = crate::json::read(json).map_err(|mut refusal| {
            refusal.code = Code::InvalidPolicyJson;
            let field = refusal.field.as_deref().map_or("resume_policy".into(), |name| format!("resume_policy.{name}"));
            refusal.at(field)
        })?;
        policy.check()?;
        Ok(policy)
    }

    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let field = "resume_policy.resume_delay_ms";
        check_limit(Code::InvalidPolicyJson, field, limits::SPAN_MAX_MS, self.resume_delay_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::{ExecutionFixture, key};
    use crate::rule::samples::at;
    use crate::suspension::Condition;
    use crate::suspension::contracts::SuspendArgs;
    use crate::types::SignalName;

    #[test]
    fn an_unknown_policy_field_is_refused_by_name() {
        let refusal = ResumePolicy::parse(br#"{"close_waitpoint_on_resume":true}"#).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidPolicyJson);
        assert_eq!(refusal.field.as_deref(), Some("resume_policy.close_waitpoint_on_resume"));
        assert!(ResumePolicy::parse(b"{}").unwrap().is_default());
    }

    #[test]
    fn a_delay_is_taken_at_its_limit_and_refused_one_past_it() {
        let delay = |resume_delay_ms| ResumePolicy { resume_delay_ms, ..ResumePolicy::default() }.check();
        assert_eq!(delay(limits::SPAN_MAX_MS), Ok(()));
        assert_eq!(delay(limits::SPAN_MAX_MS + 1).unwrap_err().code, Code::InvalidPolicyJson);
    }

    #[test]
    fn a_policy_of_all_signals_also_hands_over_uncounted_ones() {
        let mut fixture = ExecutionFixture::running(at(0));
        let named = Condition::Signal { waitpoint: key("a"), name: SignalName::parse("go").ok() };
        let resume_policy = ResumePolicy { signals: SignalSelection::All, ..ResumePolicy::default() };
        let args = SuspendArgs { resume_policy, ..fixture.suspension_for(named, &["a"]) };
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        fixture.deliver(&granted, "note", at(2));
        fixture.deliver(&granted, "go", at(3));
        let task = fixture.claim(at(4));
        assert_eq!(fixture.signal_names(&task), ["go", "note"]);
    }
}
