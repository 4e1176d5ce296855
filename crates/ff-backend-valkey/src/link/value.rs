//! Replies of the client as replies of the library.

use ff_script::Value;

/// A reply, without the client's types.
pub(crate) fn value(reply: redis::Value) -> Value {
    match reply {
        redis::Value::Int(number) => Value::Int(number),
        redis::Value::BulkString(bytes) => Value::Bytes(bytes.into()),
        redis::Value::SimpleString(text) => Value::Bytes(text.into()),
        redis::Value::Okay => Value::from("OK"),
        redis::Value::Array(values) => Value::List(values.into_iter().map(value).collect()),
        // The library's functions reply with nothing else.
        _ => Value::Nil,
    }
}
