//! The secrets of a partition: a field per secret, one per end time, and the kid of the current one.

use bytes::Bytes;
use ff_core::token::{KeyRing, RingKey, Secret};
use ff_core::types::{Kid, TimestampMs};

use super::Hash;
use crate::ScriptError;

const SECRET: &str = "secret:";
const EXPIRES_AT: &str = "expires_at:";

/// Reads a ring. Errors do not quote the fields.
pub(crate) fn ring(fields: &Hash) -> Result<KeyRing, ScriptError> {
    let mut ring = KeyRing { current: fields.maybe("current_kid")?, ..KeyRing::default() };
    for (name, value) in fields.all::<String, String>()? {
        let Some(kid) = name.strip_prefix(SECRET) else { continue };
        let kid = Kid::parse(kid).map_err(|_| ScriptError::parse("the name of a secret cannot be read"))?;
        let secret = Secret::from_hex(&value).map_err(|error| ScriptError::parse(format!("a secret {error}")))?;
        let expires_at = fields.maybe(&format!("{EXPIRES_AT}{kid}"))?.map(TimestampMs);
        ring.keys.insert(kid, RingKey { secret, expires_at });
    }
    Ok(ring)
}

/// Returns the names and values of a ring, as they are stored.
pub(crate) fn ring_fields(ring: &KeyRing) -> Vec<Bytes> {
    let mut fields = Vec::new();
    let mut field = |name: String, value: String| fields.extend([Bytes::from(name), value.into()]);
    if let Some(kid) = &ring.current {
        field("current_kid".into(), kid.to_string());
    }
    for (kid, key) in &ring.keys {
        field(format!("{SECRET}{kid}"), key.secret.expose_hex());
        if let Some(at) = key.expires_at {
            field(format!("{EXPIRES_AT}{kid}"), at.to_string());
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn a_ring_survives_being_written_and_read_and_a_bad_one_shows_nothing() {
        let mut whole = KeyRing::of(Kid::first(), Secret::from_hex("c0ffee").unwrap());
        let retired = RingKey { secret: Secret::from_hex("facade").unwrap(), expires_at: Some(TimestampMs(7)) };
        whole.keys.insert(Kid::parse("k 0").unwrap(), retired);
        let hash = |fields: Vec<Bytes>| Hash::parse(fields.into_iter().map(Value::Bytes).collect()).unwrap();
        assert_eq!(ring(&hash(ring_fields(&whole))).unwrap(), whole);
        let odd = hash(vec!["secret:k1".into(), "c0ffeex".into()]);
        let error = ring(&odd).unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
    }
}
