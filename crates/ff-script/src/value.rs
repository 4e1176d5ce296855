//! A server's answer, independent of the client.

use bytes::Bytes;

/// A reply, or a part of one.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    Nil,
    Int(i64),
    /// Text or any other bytes.
    Bytes(Bytes),
    List(Vec<Value>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Bytes(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl Value {
    /// Returns the kind of the value, for messages. The value itself may be a payload and must not be in a message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "nothing",
            Self::Int(_) => "a number",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
        }
    }
}
