//! Schemas of types that are text, or a number within bounds.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::api_key::KeyHash;
use crate::event::EventCursor;
use crate::execution::contracts::Cursor;
use crate::limits;
use crate::signal::{FeedCursor, Position};
use crate::step::StepKind;
use crate::stream::{StreamCursor, StreamMode};
use crate::token::{StreamToken, WaitpointToken};
use crate::trace::TraceContext;
use crate::types::{ExecutionId, Priority};

/// The pattern of a uuid as written in ids.
const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/// Returns the schema of a text with a limit. `refused` is the name of the function that refuses characters.
pub(crate) fn text(least: usize, limit: usize, refused: &str) -> Schema {
    let pattern = match refused {
        "refused_in_a_name" => "^[A-Za-z0-9._-]+$",
        "refused_in_a_capability" => "^[^\\u0000-\\u001F\\u007F-\\u009F,\\s]+$",
        "refused_in_a_key_id" => "^[a-z0-9]+$",
        "refused_in_a_kid" => "^[^\\u0000-\\u001F\\u007F-\\u009F:]+$",
        _ => "^[^\\u0000-\\u001F\\u007F-\\u009F]+$",
    };
    let pattern = if least == 0 { pattern.replace('+', "*") } else { pattern.to_owned() };
    let bytes = format!("At most {limit} bytes of UTF-8.");
    json_schema!({ "type": "string", "minLength": least, "maxLength": limit, "pattern": pattern, "description": bytes })
}

/// Returns the schema of a text with a limit that lists some known values.
pub(crate) fn open_text_enum(known: &[&str]) -> Schema {
    let mut schema = text(1, limits::TEXT_BYTES, "refused_in_a_text");
    let described =
        format!("One of {}, or a text of your own. At most {} bytes of UTF-8.", known.join(", "), limits::TEXT_BYTES);
    schema.insert("description".into(), described.into());
    schema
}

/// Returns the schema of an id that is a plain uuid.
pub(crate) fn uuid() -> Schema {
    json_schema!({ "type": "string", "pattern": format!("^{UUID}$") })
}

/// Implements `JsonSchema` for each named type with the given schema.
macro_rules! described {
    ($($name:ident: $schema:expr;)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

described! {
    ExecutionId: json_schema!({ "type": "string", "pattern": format!("^\\{{fp:(0|[1-9][0-9]{{0,4}})\\}}:{UUID}$") });
    Priority: json_schema!({ "type": "integer", "minimum": 0, "maximum": limits::PRIORITY_MAX });
    KeyHash: json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    TraceContext: json_schema!({
        "type": "object",
        "properties": {
            "traceparent": { "type": "string", "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}" },
            "tracestate": { "type": ["string", "null"], "maxLength": limits::TRACESTATE_BYTES },
        },
        "required": ["traceparent"],
        "additionalProperties": false,
    });
    StreamToken: opaque();
    WaitpointToken: opaque();
    Position: opaque();
    FeedCursor: opaque();
    EventCursor: opaque();
    Cursor: opaque();
    StreamCursor: opaque();
    StepKind: json_schema!({ "type": "string", "enum": ["step", "wait", "undo"] });
    StreamMode: json_schema!({ "enum": ["durable", "summary", "best_effort"] });
}

/// Returns the schema of opaque text.
fn opaque() -> Schema {
    json_schema!({ "type": "string" })
}
