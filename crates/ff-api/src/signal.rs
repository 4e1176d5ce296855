//! Signals on the wire: deliveries, and received signals.

use ff_core::contracts::{self, DeliverArgs, WaitpointRef};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::signal::{Signal, Source};
use ff_core::token::PresentedToken;
use ff_core::types::{ContentType, ExecutionId, IdempotencyKey, SignalName, WaitpointId, WaitpointKey};
use serde_json::value::RawValue;

use crate::content::present;
use crate::object::{Strict, answers, requests};
use crate::query::{Limit, WaitMs, query};
use crate::{Base64, Content, Encoding, RedactedText};

requests! {
    /// Delivers a signal. The fields of a granted waitpoint can be sent back unchanged, with a `name`.
    pub struct Deliver {
        /// Id of the waitpoint; without it, `waitpoint_key` is required.
        pub waitpoint_id: Option<WaitpointId>,
        pub waitpoint_key: Option<WaitpointKey>,
        #[serde(default)]
        pub waitpoint_token: RedactedText,
        pub name: SignalName,
        pub source: Option<Strict<Source>>,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
        pub idempotency_key: Option<IdempotencyKey>,
        pub dedup_ttl_ms: Option<u64>,
    }
}

impl Deliver {
    /// Makes the request form of a signal. The payload is base64, which keeps every byte.
    pub fn of(args: DeliverArgs) -> Self {
        let (waitpoint_id, waitpoint_key) = match args.waitpoint {
            WaitpointRef::Id(id) => (Some(id), None),
            WaitpointRef::Key(key) => (None, Some(key)),
        };
        let content = args.payload.map(|payload| Content::of(&payload, Encoding::Base64)).unwrap_or_default();
        Self {
            waitpoint_id,
            waitpoint_key,
            waitpoint_token: RedactedText(args.token.expose().to_owned()),
            name: args.name,
            source: Some(Strict(args.source)),
            payload: content.json,
            payload_base64: content.base64,
            content_type: content.content_type,
            idempotency_key: args.idempotency_key,
            dedup_ttl_ms: Some(args.dedup_ttl_ms),
        }
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<DeliverArgs, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        let waitpoint = match (self.waitpoint_id, self.waitpoint_key) {
            (Some(id), _) => WaitpointRef::Id(id),
            (None, Some(key)) => WaitpointRef::Key(key),
            (None, None) => return Err(Refusal::invalid("waitpoint_id", "is required, or waitpoint_key in its place")),
        };
        Ok(DeliverArgs {
            execution_id,
            waitpoint,
            token: PresentedToken::new(self.waitpoint_token.0),
            name: self.name,
            source: self.source.map_or_else(Source::external, |Strict(source)| source),
            payload: content.into_payload("payload")?,
            idempotency_key: self.idempotency_key,
            dedup_ttl_ms: self.dedup_ttl_ms.unwrap_or(limits::SIGNAL_DEDUP_MS),
        })
    }
}

answers! {
    /// A signal, with its payload if that is included.
    pub struct ReceivedSignal {
        #[serde(flatten)]
        pub signal: Signal,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }
}

impl ReceivedSignal {
    pub fn of(contracts::ReceivedSignal { signal, payload }: contracts::ReceivedSignal, encoding: Encoding) -> Self {
        let content = payload.map(|payload| Content::of(&payload, encoding)).unwrap_or_default();
        Self { signal, payload: content.json, payload_base64: content.base64, content_type: content.content_type }
    }

    pub fn into_received(self) -> Result<contracts::ReceivedSignal, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(contracts::ReceivedSignal { signal: self.signal, payload: content.into_payload("payload")? })
    }
}

query! {
    /// Parameters of the list of signals.
    SignalsQuery {
        /// Number of signals to skip (default: 0).
        skip: usize,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of a read of a signal.
    SignalQuery {
        /// How payloads are encoded.
        encoding: Encoding,
    }
}

query! {
    /// Parameters of the list of deliveries.
    DeliveriesQuery {
        /// Cursor from the previous page.
        after: String,
        /// Maximum number of results.
        limit: Limit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::json;
    use ff_core::payload::Payload;
    use ff_core::signal::Effect;
    use ff_core::types::{SignalId, TimestampMs};
    use uuid::Uuid;

    use super::*;

    fn id() -> ExecutionId {
        ExecutionId::new(7, Uuid::from_u128(1))
    }

    fn name() -> SignalName {
        SignalName::parse("paid").unwrap()
    }

    #[test]
    fn a_signal_arrives_as_it_was_sent() {
        let by_id = DeliverArgs {
            payload: Some(Payload::bytes(vec![0, 200])),
            source: Source::parse("bank", Some("b-7")).unwrap(),
            idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
            dedup_ttl_ms: 5,
            ..DeliverArgs::new(id(), WaitpointRef::Id(WaitpointId::new()), PresentedToken::new("k1:00"), name())
        };
        let key = WaitpointRef::Key(WaitpointKey::parse("order 17").unwrap());
        for args in [DeliverArgs { waitpoint: key, payload: None, ..by_id.clone() }, by_id] {
            let text = serde_json::to_vec(&Deliver::of(args.clone())).unwrap();
            assert_eq!(json::read::<Deliver>(&text).and_then(|sent| sent.into_args(id())), Ok(args));
        }
    }

    #[test]
    fn a_granted_waitpoint_can_be_sent_back_unchanged() {
        let waitpoint = WaitpointId::new();
        let text =
            format!(r#"{{"waitpoint_id":"{waitpoint}","waitpoint_key":"a","waitpoint_token":"k1:00","name":"paid"}}"#);
        let args = json::read::<Deliver>(text.as_bytes()).unwrap().into_args(id()).unwrap();
        assert_eq!((args.waitpoint, args.source), (WaitpointRef::Id(waitpoint), Source::external()));
        let nowhere = json::read::<Deliver>(br#"{"name":"paid"}"#).unwrap().into_args(id()).unwrap_err();
        assert_eq!(nowhere.field.as_deref(), Some("waitpoint_id"));
    }

    #[test]
    fn a_received_signal_survives_a_round_trip() {
        let signal = Signal {
            id: SignalId::new(),
            execution_id: id(),
            waitpoint_id: None,
            name: name(),
            source: Source::external(),
            idempotency_key: None,
            received_at: TimestampMs(5),
            effect: Effect::Satisfied,
            payload_bytes: 4,
        };
        for payload in [None, Some(Payload::json("null")), Some(Payload::bytes(vec![9]))] {
            let received = contracts::ReceivedSignal { signal: signal.clone(), payload };
            for encoding in [Encoding::Json, Encoding::Base64] {
                let text = serde_json::to_string(&ReceivedSignal::of(received.clone(), encoding)).unwrap();
                let back = serde_json::from_str::<ReceivedSignal>(&text).unwrap().into_received();
                assert_eq!(back, Ok(received.clone()), "{text}");
            }
        }
    }
}
