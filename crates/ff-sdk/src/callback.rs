//! Callbacks: HTTP requests that another service sends to your program, verified and passed on as signals.
//!
//! Services that follow Standard Webhooks sign their requests with a shared secret. A program that receives such
//! a request has the body, three headers, and the [`Waitpoint`] it made when it asked the service for something.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::DeliveredSignal;
use ff_core::payload::Payload;
use ff_core::types::{ContentType, TimestampMs};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{Client, Error, Signal, Waitpoint};

/// Maximum difference between a callback's timestamp and the local clock. An older callback may be a replay.
const TOLERANCE_MS: u64 = 5 * 60 * 1_000;

/// The secret with which a service signs its callbacks. `Debug` does not show it.
pub struct CallbackSecret(Vec<u8>);

/// A callback request as it was received.
#[derive(Clone, Debug)]
pub struct Callback<'r> {
    /// The header `webhook-id`. A repeated callback has the same id.
    pub id: &'r str,
    /// The header `webhook-timestamp`, in seconds since 1970.
    pub timestamp: &'r str,
    /// The header `webhook-signature`.
    pub signature: &'r str,
    pub body: Bytes,
}

/// Reason for rejecting a callback. It is for your log; do not send it to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackRejection {
    #[error("the secret is not base64, with or without whsec_ before it")]
    BadSecret,
    #[error("webhook-timestamp is not a number of seconds")]
    BadTimestamp,
    #[error("the callback is more than five minutes from now")]
    Stale,
    #[error("no signature of it is right")]
    WrongSignature,
}

/// Error of [`Client::verify_and_deliver`].
#[derive(Debug, thiserror::Error)]
pub enum CallbackError {
    /// The callback could not be verified. Nothing was done.
    #[error(transparent)]
    Unbelieved(#[from] CallbackRejection),
    /// The callback was verified, but its signal was refused or not answered.
    #[error(transparent)]
    Undelivered(#[from] Error),
}

impl CallbackSecret {
    /// Parses a secret as services issue it: base64, usually with the prefix `whsec_`.
    pub fn parse(text: &str) -> Result<Self, CallbackRejection> {
        let key =
            STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text)).map_err(|_| CallbackRejection::BadSecret)?;
        if key.is_empty() { Err(CallbackRejection::BadSecret) } else { Ok(Self(key)) }
    }

    /// Checks the signature of a callback, and that its timestamp is at most five minutes from `now`. Signatures are
    /// compared in constant time.
    pub fn verify(&self, callback: &Callback<'_>, now: TimestampMs) -> Result<(), CallbackRejection> {
        let seconds: i64 = callback.timestamp.parse().map_err(|_| CallbackRejection::BadTimestamp)?;
        let sent = TimestampMs(seconds.saturating_mul(1_000));
        if sent.since(now).max(now.since(sent)) > TOLERANCE_MS {
            return Err(CallbackRejection::Stale);
        }
        let ours = |signature: &str| {
            let Some(theirs) = signature.strip_prefix("v1,").and_then(|base64| STANDARD.decode(base64).ok()) else {
                return false;
            };
            self.mac(callback).verify_slice(&theirs).is_ok()
        };
        // During a secret rotation a service signs with both secrets, so one valid signature is enough.
        if callback.signature.split(' ').any(ours) { Ok(()) } else { Err(CallbackRejection::WrongSignature) }
    }

    fn mac(&self, callback: &Callback<'_>) -> Hmac<Sha256> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("an HMAC takes a key of any length")
        };
        for part in [callback.id.as_bytes(), b".", callback.timestamp.as_bytes(), b".", &callback.body] {
            mac.update(part);
        }
        mac
    }
}

impl std::fmt::Debug for CallbackSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a secret")
    }
}

impl Client {
    /// Verifies a callback and delivers it as a signal of this name, with its body as the payload. A repeated callback
    /// is the same signal, because its id is the idempotency key.
    pub async fn verify_and_deliver(
        &self,
        secret: &CallbackSecret,
        callback: Callback<'_>,
        waitpoint: &Waitpoint,
        name: &str,
    ) -> Result<DeliveredSignal, CallbackError> {
        secret.verify(&callback, SystemClock.now())?;
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&callback.body).is_ok();
        let content_type = if is_json { ContentType::json() } else { ContentType::bytes() };
        let signal = Signal::new(waitpoint, name)
            .payload(Payload::new(content_type, callback.body))
            .source("callback", None)
            .idempotency_key(callback.id);
        Ok(self.signal(signal).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published example of Standard Webhooks.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const NOW: TimestampMs = TimestampMs(1_614_265_330_000);

    fn callback() -> Callback<'static> {
        Callback {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signature: SIGNATURE,
            body: Bytes::from_static(br#"{"test": 2432232314}"#),
        }
    }

    fn verify(callback: &Callback<'_>, now: TimestampMs) -> Result<(), CallbackRejection> {
        CallbackSecret::parse(SECRET).unwrap().verify(callback, now)
    }

    #[test]
    fn the_published_example_is_believed() {
        assert_eq!(verify(&callback(), NOW), Ok(()));
        let both = format!("v1,AAAA v1a,AAAA {SIGNATURE}");
        assert_eq!(verify(&Callback { signature: &both, ..callback() }, NOW), Ok(()));
    }

    #[test]
    fn a_callback_with_a_wrong_signature_is_rejected() {
        let wrong = Err(CallbackRejection::WrongSignature);
        for signature in ["", "v1,", &SIGNATURE[3..], "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="] {
            assert_eq!(verify(&Callback { signature, ..callback() }, NOW), wrong, "{signature:?}");
        }
        assert_eq!(verify(&Callback { id: "msg_other", ..callback() }, NOW), wrong);
        assert_eq!(verify(&Callback { body: Bytes::from_static(b"{}"), ..callback() }, NOW), wrong);
        assert_eq!(verify(&Callback { timestamp: "1614265331", ..callback() }, NOW), wrong);
        let other = CallbackSecret::parse("whsec_c2VjcmV0").unwrap();
        assert_eq!(other.verify(&callback(), NOW), wrong);
    }

    #[test]
    fn a_callback_outside_the_tolerance_is_rejected() {
        assert_eq!(verify(&callback(), NOW + TOLERANCE_MS), Ok(()));
        for now in [NOW + (TOLERANCE_MS + 1), NOW - (TOLERANCE_MS + 1)] {
            assert_eq!(verify(&callback(), now), Err(CallbackRejection::Stale));
        }
        assert_eq!(verify(&Callback { timestamp: "soon", ..callback() }, NOW), Err(CallbackRejection::BadTimestamp));
        assert!(matches!(CallbackSecret::parse("whsec_"), Err(CallbackRejection::BadSecret)));
        assert!(!format!("{:?}", CallbackSecret::parse(SECRET).unwrap()).contains("Mf"));
    }
}
