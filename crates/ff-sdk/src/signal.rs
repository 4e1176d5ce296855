//! Signals: one to be delivered, put together field by field, and one that was received.

use ff_core::contracts::{DeliverArgs, ReceivedSignal, WaitpointRef};
use ff_core::engine_error::Refusal;
use ff_core::payload::Payload;
use ff_core::signal::Source;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, SignalName, WaitpointKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job::try_put;
use crate::{Error, Waitpoint};

/// A signal to be delivered. An invalid field is reported when the signal is sent.
#[derive(Debug)]
pub struct Signal {
    args: Result<DeliverArgs, Error>,
}

impl Signal {
    /// A signal of this name to a waitpoint, by its token.
    pub fn new(waitpoint: &Waitpoint, name: &str) -> Self {
        let token = PresentedToken::from(&waitpoint.waitpoint_token);
        Self::to(waitpoint.execution_id, WaitpointRef::Id(waitpoint.waitpoint_id), token, name)
    }

    /// A signal to a waitpoint that is known by its key.
    pub fn by_key(execution: ExecutionId, key: &str, token: &str, name: &str) -> Self {
        match WaitpointKey::parse(key) {
            Ok(key) => Self::to(execution, WaitpointRef::Key(key), PresentedToken::new(token), name),
            Err(error) => Self { args: Err(Refusal::invalid("waitpoint_key", error).into()) },
        }
    }

    fn to(execution: ExecutionId, waitpoint: WaitpointRef, token: PresentedToken, name: &str) -> Self {
        let args = SignalName::parse(name).map(|name| DeliverArgs::new(execution, waitpoint, token, name));
        Self { args: args.map_err(|error| Refusal::invalid("name", error).into()) }
    }

    /// Its payload, as JSON.
    pub fn json(self, payload: &impl Serialize) -> Self {
        match serde_json::to_vec(payload) {
            Ok(text) => self.payload(Payload::json(text)),
            Err(error) => Self { args: self.args.and(Err(Error::Encode(error))) },
        }
    }

    /// Its payload.
    pub fn payload(self, payload: Payload) -> Self {
        self.set(Ok(payload), |args, payload| args.payload = Some(payload))
    }

    /// Its sender: the kind of sender, and which one.
    pub fn source(self, kind: &str, identity: Option<&str>) -> Self {
        let source = Source::parse(kind, identity).map_err(Error::from);
        self.set(source, |args, source| args.source = source)
    }

    /// A second signal to this waitpoint with this key is the same signal.
    pub fn idempotency_key(self, key: &str) -> Self {
        let key = IdempotencyKey::parse(key).map_err(|error| Refusal::invalid("idempotency_key", error).into());
        self.set(key, |args, key| args.idempotency_key = Some(key))
    }

    /// The arguments of the delivery, or the first thing that is wrong with them.
    pub fn build(self) -> Result<DeliverArgs, Error> {
        self.args
    }

    fn set<T>(mut self, value: Result<T, Error>, put: impl FnOnce(&mut DeliverArgs, T)) -> Self {
        try_put(&mut self.args, value, put);
        self
    }
}

/// A signal that was received, with its payload.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalMessage(pub ReceivedSignal);

impl SignalMessage {
    /// Its name.
    pub fn name(&self) -> &str {
        self.0.signal.name.as_str()
    }

    /// Its sender, by the sender's own account; only operators and the engine can be `operator` and `engine`.
    pub fn source(&self) -> &Source {
        &self.0.signal.source
    }

    /// Its payload; empty when it has none.
    pub fn payload(&self) -> Payload {
        self.0.payload.clone().unwrap_or_default()
    }

    /// Its payload, read as JSON; `null` when it has none.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let bytes = self.0.payload.as_ref().map_or(&b"null"[..], |payload| &payload.bytes);
        serde_json::from_slice(bytes).map_err(Error::Decode)
    }
}
