//! Hand-written schemas for the description of the HTTP API, of types whose JSON form cannot be derived.

use std::borrow::Cow;

use ff_core::flow::{OnSatisfied, PassMode};
use ff_core::limits;
use ff_core::trace::TraceContext;
use ff_core::types::NodeName;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    Base64, Encoding, GraphLimit, IncomingEdge, JoinBody, Limit, Node, Nodes, RedactedText, StepsLimit, Strict,
    TagFilter, Trace, WaitMs,
};

/// Implements `JsonSchema` for each type, with an expression for its schema.
macro_rules! described {
    ($($name:ident: |$generator:ident| $schema:expr;)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

described! {
    Base64: |_generator| json_schema!({ "type": "string", "contentEncoding": "base64" });
    Limit: |_generator| at_most(1, limits::PAGE, limits::PAGE_DEFAULT);
    StepsLimit: |_generator| at_most(1, limits::PAGE, limits::STEPS_PAGE);
    GraphLimit: |_generator| at_most(0, limits::PAGE, limits::PAGE_DEFAULT);
    WaitMs: |_generator| at_most(0, limits::LONG_POLL_MS, 0);
    TagFilter: |_generator| json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+:.+$" });
    Encoding: |_generator| json_schema!({ "enum": ["json", "base64"] });
    Trace: |generator| generator.subschema_for::<TraceContext>();
    RedactedText: |_generator| json_schema!({ "type": "string" });
    IncomingEdge: |generator| json_schema!({ "anyOf": [
        generator.subschema_for::<NodeName>(),
        {
            "type": "object",
            "properties": {
                "node": generator.subschema_for::<NodeName>(),
                "passes": generator.subschema_for::<Option<PassMode>>(),
            },
            "required": ["node"],
            "additionalProperties": false,
        },
    ] });
    JoinBody: |generator| json_schema!({ "anyOf": [
        { "enum": ["all_of", "any_of"] },
        {
            "type": "object",
            "properties": { "type": { "const": "all_of" } },
            "required": ["type"],
            "additionalProperties": false,
        },
        {
            "type": "object",
            "properties": { "type": { "const": "any_of" }, "on_satisfied": generator.subschema_for::<OnSatisfied>() },
            "required": ["type"],
            "additionalProperties": false,
        },
        {
            "type": "object",
            "properties": {
                "type": { "const": "quorum" },
                "k": { "type": "integer", "minimum": 1, "maximum": u32::MAX },
                "on_satisfied": generator.subschema_for::<OnSatisfied>(),
            },
            "required": ["type", "k"],
            "additionalProperties": false,
        },
    ] });
    Nodes: |generator| json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<NodeName>(),
        "additionalProperties": generator.subschema_for::<Node>(),
    });
}

impl<T: JsonSchema> JsonSchema for Strict<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Returns the schema of a number between two limits.
fn at_most(minimum: u64, maximum: impl serde::Serialize, default: impl serde::Serialize) -> Schema {
    json_schema!({ "type": "integer", "minimum": minimum, "maximum": maximum, "default": default })
}
