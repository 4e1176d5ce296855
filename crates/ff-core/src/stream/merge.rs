//! JSON merge patches (RFC 7396) over text, so that numbers and strings keep their spelling.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

/// Returns the document after a patch: members that are null are removed, objects are merged, every other value
/// replaces the old one. A patch that is not an object replaces the whole document.
///
/// The recursion is as deep as the patch; callers limit the depth.
pub fn merge(document: Option<&RawValue>, patch: &RawValue) -> Result<Box<RawValue>, serde_json::Error> {
    let Some(changes) = members(patch)? else { return Ok(patch.to_owned()) };
    let mut merged = document.map(members).transpose()?.flatten().unwrap_or_default();
    for (name, change) in changes {
        if change.get() == "null" {
            merged.remove(&name);
        } else {
            let value = merge(merged.get(&name).map(AsRef::as_ref), &change)?;
            merged.insert(name, value);
        }
    }
    to_raw_value(&merged)
}

/// Returns the members of an object; `None` for any other value.
fn members(value: &RawValue) -> Result<Option<BTreeMap<String, Box<RawValue>>>, serde_json::Error> {
    value.get().starts_with('{').then(|| serde_json::from_str(value.get())).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).unwrap()
    }

    /// The examples of the RFC's appendix.
    #[test]
    fn a_patch_does_what_the_rfc_says() {
        for (document, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, r"{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            let merged = merge(Some(&raw(document)), &raw(patch)).unwrap();
            assert_eq!(merged.get(), result, "{document} with {patch}");
        }
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        let merged = merge(Some(&raw(r#"{"a":9007199254740993,"b":1.10}"#)), &raw(r#"{"c":1e400}"#)).unwrap();
        assert_eq!(merged.get(), r#"{"a":9007199254740993,"b":1.10,"c":1e400}"#);
    }

    #[test]
    fn the_first_patch_makes_the_document() {
        assert_eq!(merge(None, &raw(r#"{"a":{"b":null,"c":1}}"#)).unwrap().get(), r#"{"a":{"c":1}}"#);
    }
}
