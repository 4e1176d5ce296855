//! Reads conditions and resume policies. A list in place of an object is refused: serde would read it as the object's fields in
//! their order.

use ff_core::engine_error::{Code, Refusal};
use ff_core::suspension::{Condition, ResumePolicy};
use serde_json::Value;
use serde_json::value::RawValue;

/// Reads a condition. The refusal names the invalid part.
pub(crate) fn read(json: &RawValue) -> Result<Condition, Refusal> {
    let text = json.get().as_bytes();
    let tree: Value = ff_core::json::read(text).map_err(|refusal| refusal.at("condition"))?;
    check_shape(&tree, "condition")?;
    Condition::parse(text)
}

/// Reads a resume policy. The refusal names the invalid part.
pub(crate) fn read_policy(json: &RawValue) -> Result<ResumePolicy, Refusal> {
    if !json.get().starts_with('{') {
        return Err(Code::InvalidPolicyJson.refusal().at("resume_policy").because("must be an object"));
    }
    ResumePolicy::parse(json.get().as_bytes())
}

/// The conditions without fields. For a unit variant, serde ignores all fields other than the tag, so they are refused here.
const BARE: [&str; 2] = ["operator_only", "timeout_only"];

fn check_shape(node: &Value, path: &str) -> Result<(), Refusal> {
    let Value::Object(node) = node else { return Err(Refusal::invalid(path, "must be an object")) };
    let bare = node.get("type").and_then(Value::as_str).is_some_and(|kind| BARE.contains(&kind));
    if let Some(more) = node.keys().find(|key| bare && *key != "type") {
        return Err(Code::UnknownField.refusal().at(format!("{path}.{more}")).because("is not a field of it"));
    }
    let Some(Value::Array(members)) = node.get("members") else { return Ok(()) };
    members.iter().enumerate().try_for_each(|(nth, member)| check_shape(member, &format!("{path}.members[{nth}]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (Code, Option<String>) {
        let refusal = read(&RawValue::from_string(text.to_owned()).unwrap()).unwrap_err();
        (refusal.code, refusal.field)
    }

    #[test]
    fn a_part_that_is_no_object_is_named_by_its_path() {
        for (text, field) in [
            ("5", "condition"),
            (r#"["operator_only"]"#, "condition"),
            (
                r#"{"type":"all_of","members":[{"type":"all_of","members":[["operator_only"]]}]}"#,
                "condition.members[0].members[0]",
            ),
            (r#"{"type":"sometimes"}"#, "condition.type"),
            (r#"{}"#, "condition.type"),
        ] {
            assert_eq!(refused(text), (Code::InvalidInput, Some(field.to_owned())), "{text}");
        }
        for text in [r#"{"type":"operator_only","n":1}"#, r#"{"type":"signal","waitpoint":"a","n":1}"#] {
            assert_eq!(refused(text), (Code::UnknownField, Some("condition.n".to_owned())), "{text}");
        }
    }
}
