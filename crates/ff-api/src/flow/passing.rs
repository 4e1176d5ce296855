//! The data an edge passes on: the payload, or a named input.

use ff_core::flow::PassMode;
use ff_core::types::InputName;
use serde::{Deserialize, Deserializer};

use crate::object::WordOrObject;

/// Reads `"payload"`, `{"input": "rows"}` or `null`.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PassMode>, D::Error> {
    Ok(Option::<PassModeBody>::deserialize(deserializer)?.map(|body| body.0))
}

struct PassModeBody(PassMode);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedInput {
    input: InputName,
}

impl<'de> Deserialize<'de> for PassModeBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mode = deserializer.deserialize_any(WordOrObject {
            expected: "payload, or an object with the name of an `input`",
            of_word: |word| match word {
                "payload" => Ok(PassMode::Payload),
                _ => Err("must be payload, or an object with the name of an `input`".into()),
            },
            of_object: |NamedInput { input }| Ok(PassMode::Input(input)),
        });
        mode.map(Self)
    }
}
