//! The join of the edges into a node: a name, or an object with all settings.

use ff_core::flow::{Join, OnSatisfied};
use serde::{Deserialize, Deserializer, Serialize};

use crate::object::{WordOrObject, word};

/// `"all_of"`, `"any_of"`, or `{"type": "quorum", "k": 2, "on_satisfied": "cancel_remaining"}`. By default, the other
/// upstreams keep running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct JoinBody(pub Join);

/// The object form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinObject {
    r#type: String,
    #[serde(default)]
    k: Option<u32>,
    #[serde(default, deserialize_with = "word")]
    on_satisfied: Option<OnSatisfied>,
}

impl JoinObject {
    fn join(self) -> Result<Join, &'static str> {
        let on_satisfied = self.on_satisfied.unwrap_or(OnSatisfied::LetRun);
        match (self.r#type.as_str(), self.k) {
            ("quorum", None) => Err("a quorum says of how many, as `k`"),
            ("quorum", Some(k)) => Ok(Join::Quorum { k, on_satisfied }),
            ("all_of" | "any_of", Some(_)) => Err("only a quorum has a `k`"),
            ("all_of", None) if self.on_satisfied.is_some() => {
                Err("where all upstreams are needed, none remain for `on_satisfied`")
            }
            ("all_of", None) => Ok(Join::AllOf),
            ("any_of", None) => Ok(Join::AnyOf { on_satisfied }),
            _ => Err("its type must be all_of, any_of or quorum"),
        }
    }
}

impl<'de> Deserialize<'de> for JoinBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let join = deserializer.deserialize_any(WordOrObject {
            expected: "all_of, any_of, or an object with a `type`",
            of_word: |word| match word {
                "all_of" => Ok(Join::AllOf),
                "any_of" => Ok(Join::AnyOf { on_satisfied: OnSatisfied::LetRun }),
                "quorum" => Err("a quorum says of how many: {\"type\": \"quorum\", \"k\": 2}".into()),
                _ => Err("must be all_of, any_of, or an object with a `type`".into()),
            },
            of_object: JoinObject::join,
        });
        join.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_arrives_as_it_was_sent_and_may_be_a_word() {
        let each = [OnSatisfied::LetRun, OnSatisfied::CancelRemaining];
        let joins = each.map(|on_satisfied| [Join::AnyOf { on_satisfied }, Join::Quorum { k: 2, on_satisfied }]);
        for join in joins.into_iter().flatten().chain([Join::AllOf]) {
            let text = serde_json::to_string(&JoinBody(join)).unwrap();
            assert_eq!(serde_json::from_str::<JoinBody>(&text).unwrap().0, join, "{text}");
        }
        let words = ["\"all_of\"", "\"any_of\"", r#"{"type":"quorum","k":2}"#];
        let from_words = words.map(|text| serde_json::from_str::<JoinBody>(text).unwrap().0);
        let on_satisfied = OnSatisfied::LetRun;
        assert_eq!(from_words, [Join::AllOf, Join::AnyOf { on_satisfied }, Join::Quorum { k: 2, on_satisfied }]);
    }

    #[test]
    fn a_join_that_makes_no_sense_says_why() {
        for (text, why) in [
            ("\"quorum\"", "of how many"),
            ("\"most\"", "must be all_of"),
            ("5", "an object"),
            (r#"{"type":5}"#, "expected a string"),
            (r#"{"type":"most"}"#, "its type"),
            (r#"{"type":"any_of","on_satisfied":5}"#, "expected a string"),
            (r#"{"type":"quorum"}"#, "as `k`"),
            (r#"{"type":"any_of","k":2}"#, "only a quorum"),
            (r#"{"type":"all_of","on_satisfied":"let_run"}"#, "none remain"),
            (r#"{"type":"any_of","on_satisfid":"let_run"}"#, "unknown field"),
        ] {
            let error = serde_json::from_str::<JoinBody>(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
