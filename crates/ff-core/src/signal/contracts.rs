//! What callers ask of signals, and what they are told.

use serde::{Deserialize, Serialize};

use super::{Delivery, Effect, FeedCursor, Signal, Source};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::payload::Payload;
use crate::suspension::contracts::check_dedup_ttl;
use crate::token::PresentedToken;
use crate::types::{ExecutionId, IdempotencyKey, SignalId, SignalName, WaitpointId, WaitpointKey};

/// Someone outside tells an execution something. The token is the whole authority.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliverArgs {
    pub execution_id: ExecutionId,
    pub waitpoint: WaitpointRef,
    pub token: PresentedToken,
    pub name: SignalName,
    pub source: Source,
    pub payload: Option<Payload>,
    /// Under this key a waitpoint takes one signal, for as long as the key is remembered.
    pub idempotency_key: Option<IdempotencyKey>,
    pub dedup_ttl_ms: u64,
}

/// How a signal says where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitpointRef {
    Id(WaitpointId),
    /// By the name outsiders know it by.
    Key(WaitpointKey),
}

impl DeliverArgs {
    /// A signal with nothing but its name.
    pub fn new(execution_id: ExecutionId, waitpoint: WaitpointRef, token: PresentedToken, name: SignalName) -> Self {
        Self {
            execution_id,
            waitpoint,
            token,
            name,
            source: Source::external(),
            payload: None,
            idempotency_key: None,
            dedup_ttl_ms: limits::SIGNAL_DEDUP_MS,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        self.payload.as_ref().map_or(Ok(()), check_signal_payload)?;
        if self.source.is_reserved() {
            let detail = format!("must be the sender's own; {} is reserved", self.source.kind);
            return Err(Refusal::invalid("source.type", detail));
        }
        check_dedup_ttl(self.dedup_ttl_ms)
    }
}

/// Refuses a signal over its limit.
pub fn check_signal_payload(payload: &Payload) -> Result<(), Refusal> {
    let sent = payload.bytes.len();
    if sent > limits::SIGNAL_BYTES {
        return Err(Refusal::over_limit(Code::PayloadTooLarge, "payload", limits::SIGNAL_BYTES, sent));
    }
    Ok(())
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivered {
    /// Of a duplicate, the id of the first.
    pub signal_id: SignalId,
    pub effect: Effect,
}

/// A signal with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedSignal {
    pub signal: Signal,
    /// What it carried; none when it carried nothing, or when it is told without.
    pub payload: Option<Payload>,
}

/// Which signals of an execution to list: oldest first, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalsArgs {
    pub execution_id: ExecutionId,
    /// How many to pass over.
    pub skip: usize,
    pub limit: usize,
}

impl SignalsArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit)
    }
}

/// One page of an execution's signals, without their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignalsPage {
    pub signals: Vec<Signal>,
    /// How many to pass over for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// A reader of what was delivered, on every partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveriesArgs {
    /// Where the last page ended; from now on when absent.
    pub after: Option<FeedCursor>,
    pub limit: usize,
}

impl DeliveriesArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit)
    }
}

/// One page of what was delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliveriesPage {
    pub deliveries: Vec<Delivery>,
    /// Where to go on.
    pub next: FeedCursor,
    /// True when some may be gone that the reader never saw: feeds are bounded.
    pub missed: bool,
}

fn check_page(limit: usize) -> Result<(), Refusal> {
    match limit {
        0 => Err(Refusal::invalid("limit", "must be at least 1")),
        1..=limits::PAGE => Ok(()),
        sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn args() -> DeliverArgs {
        let waitpoint = WaitpointRef::Id(WaitpointId::from_uuid(Uuid::nil()));
        let token = PresentedToken::new("k1:5ec4e7");
        DeliverArgs::new(ExecutionId::new(0, Uuid::nil()), waitpoint, token, SignalName::parse("go").unwrap())
    }

    #[test]
    fn a_signal_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| DeliverArgs { payload: Some(Payload::bytes(vec![0; bytes])), ..args() };
        assert_eq!(sized(limits::SIGNAL_BYTES).check(), Ok(()));
        let refusal = sized(limits::SIGNAL_BYTES + 1).check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::PayloadTooLarge, Some("payload")));
        assert_eq!(refusal.limit, Some((262_144, 262_145)));
    }

    #[test]
    fn nobody_outside_speaks_for_an_operator_or_the_engine() {
        for kind in ["operator", "engine", "Operator", "ENGINE"] {
            let forged = DeliverArgs { source: Source::parse(kind, Some("boss")).unwrap(), ..args() };
            assert_eq!(forged.check().unwrap_err().field.as_deref(), Some("source.type"));
        }
    }

    #[test]
    fn the_arguments_show_no_token() {
        assert!(!format!("{:?}", args()).contains("5ec4e7"));
    }
}
