//! Payloads in JSON bodies: a JSON payload is embedded as it is, any other is base64 with its content type.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ff_core::engine_error::Refusal;
use ff_core::payload::Payload;
use ff_core::types::ContentType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The form of payloads in an answer, chosen by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum Encoding {
    /// JSON as it is, other payloads as base64.
    #[default]
    Json,
    /// Always base64, so that the bytes are exactly those of the submission.
    Base64,
}

impl TryFrom<String> for Encoding {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        match word.as_str() {
            "json" => Ok(Self::Json),
            "base64" => Ok(Self::Base64),
            _ => Err("must be json or base64"),
        }
    }
}

/// Bytes written as base64, with the standard alphabet and padding.
#[derive(Clone, PartialEq, Eq)]
pub struct Base64(pub Bytes);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text.as_bytes());
        bytes.map(|bytes| Self(bytes.into())).map_err(|error| serde::de::Error::custom(NotBase64(error)))
    }
}

struct NotBase64(base64::DecodeError);

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be base64 with the standard alphabet and padding: {}", self.0)
    }
}

/// The three fields of a payload or result in a request or answer.
#[derive(Clone, Default)]
pub struct Content {
    pub json: Option<Box<RawValue>>,
    pub base64: Option<Base64>,
    /// Default: JSON with `json`, bytes of unknown type with `base64`.
    pub content_type: Option<ContentType>,
}

impl Content {
    /// Writes a payload. A payload whose content type is JSON but whose bytes are not is sent as base64.
    pub fn of(payload: &Payload, encoding: Encoding) -> Self {
        let content_type = payload.content_type.clone();
        match json(payload).filter(|_| encoding == Encoding::Json) {
            Some(json) => {
                let content_type = (content_type != ContentType::json()).then_some(content_type);
                Self { json: Some(json), base64: None, content_type }
            }
            None => Self { json: None, base64: Some(Base64(payload.bytes.clone())), content_type: Some(content_type) },
        }
    }

    /// Reads a payload sent as `field` or `field_base64`; `None` when both are absent.
    pub fn into_payload(self, field: &str) -> Result<Option<Payload>, Refusal> {
        match (self.json, self.base64, self.content_type) {
            (Some(_), Some(_), _) => {
                Err(Refusal::invalid(format!("{field}_base64"), format!("cannot be given together with {field}")))
            }
            (Some(_), None, Some(kind)) if !kind.is_json() => {
                let detail = format!("must be JSON beside {field}, got {kind:?}; send such bytes as {field}_base64");
                Err(Refusal::invalid("content_type", detail))
            }
            (Some(json), None, kind) => {
                let text = String::from(Box::<str>::from(json));
                Ok(Some(Payload::new(kind.unwrap_or_else(ContentType::json), text)))
            }
            (None, Some(base64), kind) => Ok(Some(Payload::new(kind.unwrap_or_else(ContentType::bytes), base64.0))),
            (None, None, Some(_)) => {
                Err(Refusal::invalid("content_type", format!("needs {field} or {field}_base64 beside it")))
            }
            (None, None, None) => Ok(None),
        }
    }
}

/// Reads any JSON value. A payload of `null` is present, not absent.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

fn json(payload: &Payload) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(&payload.bytes).ok().filter(|_| payload.content_type.is_json())?;
    RawValue::from_string(text.to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff_core::engine_error::Code;

    fn back(content: Content) -> Payload {
        content.into_payload("payload").unwrap().unwrap()
    }

    #[test]
    fn every_byte_survives_as_base64() {
        let all: Vec<u8> = (0..=255).collect();
        let payload = Payload::new(ContentType::parse("image/png").unwrap(), all);
        for encoding in [Encoding::Json, Encoding::Base64] {
            assert_eq!(back(Content::of(&payload, encoding)), payload);
        }
    }

    #[test]
    fn json_is_embedded_unless_base64_is_requested() {
        let payload = Payload::json("{ \"a\" : 1 }");
        let plain = Content::of(&payload, Encoding::Json);
        assert_eq!(plain.json.as_ref().map(|json| json.get()), Some("{ \"a\" : 1 }"));
        assert_eq!(back(plain), payload);
        assert!(Content::of(&payload, Encoding::Base64).json.is_none());
    }

    #[test]
    fn a_json_type_of_its_own_is_kept() {
        let payload = Payload::new(ContentType::parse("application/geo+json").unwrap(), "[]");
        assert_eq!(back(Content::of(&payload, Encoding::Json)), payload);
    }

    #[test]
    fn invalid_json_is_not_embedded() {
        for bytes in ["{", "", "1 2", "\u{feff}1"] {
            let payload = Payload::json(bytes);
            let content = Content::of(&payload, Encoding::Json);
            assert!(content.json.is_none(), "{bytes:?}");
            assert_eq!(back(content), payload);
        }
    }

    #[test]
    fn fields_that_contradict_each_other_are_refused() {
        let json = || Some(RawValue::from_string("1".into()).unwrap());
        let bytes = || Some(Base64(Bytes::from_static(b"1")));
        let png = || Some(ContentType::parse("image/png").unwrap());
        for (content, field) in [
            (Content { json: json(), base64: bytes(), content_type: None }, "result_base64"),
            (Content { json: json(), base64: None, content_type: png() }, "content_type"),
            (Content { json: None, base64: None, content_type: png() }, "content_type"),
        ] {
            let refusal = content.into_payload("result").unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }
}
