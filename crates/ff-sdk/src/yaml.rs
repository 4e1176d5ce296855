//! Conversion of YAML to JSON, so that one parser reads the fields of a file and names them in errors. The order of entries
//! is kept.

use std::fmt;

use ff_core::engine_error::{Code, Refusal};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};
use serde_saphyr::{Error, UserMessageFormatter};

/// Maximum number of scalars, lists and maps in a document: enough for the largest flow in its longest notation.
const PIECES: usize = 1_000_000;

/// Maximum number of parser events that aliases may repeat.
const REPEATED: usize = 100_000;

/// Converts a YAML document to JSON text. A syntax error names its position.
pub fn to_json(text: &str) -> Result<Vec<u8>, Refusal> {
    let alias_limits = serde_saphyr::alias_limits! { max_total_replayed_events: REPEATED };
    let budget = serde_saphyr::budget! { max_nodes: PIECES, max_events: 4 * PIECES };
    // Only `true` and `false` are booleans: the country code `no` is a string.
    let options = serde_saphyr::options! {
        budget: budget,
        alias_limits: alias_limits,
        strict_booleans: true,
        with_snippet: false,
    };
    let tree: Tree = serde_saphyr::from_str_with_options(text, options).map_err(|error| refused(&error))?;
    serde_json::to_vec(&tree).map_err(|error| Refusal::new(Code::InvalidInput).because(error))
}

fn refused(error: &Error) -> Refusal {
    if let Error::DuplicateMappingKey { key: Some(key), location } = error.without_snippet() {
        let place = format!("line {}, column {}", location.line(), location.column());
        return Refusal::invalid(key, format!("is there twice, the second time at {place}; must be there once"));
    }
    let why = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    Refusal::new(Code::InvalidInput).because(format!("cannot be read as YAML: {why}"))
}

/// A value that both YAML and JSON can express.
enum Tree {
    Scalar(Value),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Scalar(value) => value.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what JSON can say as well")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(Value::Null))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Tree, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("JSON has no number for this"))?;
        Ok(Tree::Scalar(number.into()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Scalar(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Tree::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        String::from_utf8(to_json(text).unwrap()).unwrap()
    }

    #[test]
    fn yaml_is_converted_to_the_same_json_in_order() {
        let output = json("z: [1, -2, 2.5, true, null, ~]\na: {x: \"1\", y: no}\n7: |\n  two\n  lines\n");
        assert_eq!(output, r#"{"z":[1,-2,2.5,true,null,null],"a":{"x":"1","y":"no"},"7":"two\nlines\n"}"#);
        assert_eq!(json("{\"a\": [1]}"), r#"{"a":[1]}"#, "JSON is YAML");
        assert_eq!(json("p: &p {a: 1}\nq: *p\n"), r#"{"p":{"a":1},"q":{"a":1}}"#);
        assert_eq!(json("18446744073709551615"), "18446744073709551615");
    }

    #[test]
    fn invalid_yaml_is_refused_with_its_position() {
        for text in ["a:\n  b: [1,\n", "a: 1\na: 2\n", "a:\n\t- b\n", "a: 1\n--- \nb: 2\n", "a: .nan\n"] {
            let refusal = to_json(text).unwrap_err();
            let why = refusal.detail.unwrap();
            assert!(why.contains("line ") && why.contains("column ") && why.lines().count() == 1, "{text:?}: {why}");
        }
    }

    #[test]
    fn aliases_do_not_blow_a_small_text_up() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..10 {
            let again = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{again}]\n"));
        }
        assert!(to_json(&text).is_err());
    }
}
