//! Converts replies of the client library.

use ff_script::Value;

/// Converts a reply into the type of ff-script.
pub(crate) fn value(reply: redis::Value) -> Value {
    match reply {
        redis::Value::Int(number) => Value::Int(number),
        redis::Value::BulkString(bytes) => Value::Bytes(bytes.into()),
        redis::Value::SimpleString(text) => Value::Bytes(text.into()),
        redis::Value::Okay => Value::from("OK"),
        redis::Value::Array(values) => Value::List(values.into_iter().map(value).collect()),
        // The functions of the library return no other types.
        _ => Value::Nil,
    }
}
