//! Signals: the builder of a signal to deliver, and a received signal.

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

/// A signal to deliver. An invalid field is reported when the signal is sent.
#[derive(Debug)]
pub struct Signal {
    args: Result<DeliverArgs, Error>,
}

impl Signal {
    /// Creates a signal of this name to a waitpoint, with the waitpoint's token.
    pub fn new(waitpoint: &Waitpoint, name: &str) -> Self {
        let token = PresentedToken::from(&waitpoint.waitpoint_token);
        Self::to(waitpoint.execution_id, WaitpointRef::Id(waitpoint.waitpoint_id), token, name)
    }

    /// Creates a signal to a waitpoint that is identified by its key.
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

    /// Sets the payload, as JSON.
    pub fn json(self, payload: &impl Serialize) -> Self {
        match serde_json::to_vec(payload) {
            Ok(text) => self.payload(Payload::json(text)),
            Err(error) => Self { args: self.args.and(Err(Error::Encode(error))) },
        }
    }

    /// Sets the payload.
    pub fn payload(self, payload: Payload) -> Self {
        self.set(Ok(payload), |args, payload| args.payload = Some(payload))
    }

    /// Sets the sender: its kind, and its identity.
    pub fn source(self, kind: &str, identity: Option<&str>) -> Self {
        let source = Source::parse(kind, identity).map_err(Error::from);
        self.set(source, |args, source| args.source = source)
    }

    /// Sets the idempotency key: a second signal to this waitpoint with this key is the same signal.
    pub fn idempotency_key(self, key: &str) -> Self {
        let key = IdempotencyKey::parse(key).map_err(|error| Refusal::invalid("idempotency_key", error).into());
        self.set(key, |args, key| args.idempotency_key = Some(key))
    }

    /// Returns the arguments of the delivery, or the first error in them.
    pub fn build(self) -> Result<DeliverArgs, Error> {
        self.args
    }

    fn set<T>(mut self, value: Result<T, Error>, put: impl FnOnce(&mut DeliverArgs, T)) -> Self {
        try_put(&mut self.args, value, put);
        self
    }
}

/// A received signal, with its payload.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalMessage(pub ReceivedSignal);

impl SignalMessage {
    /// Returns the name of the signal.
    pub fn name(&self) -> &str {
        self.0.signal.name.as_str()
    }

    /// Returns the sender as named by itself. Only operators and the engine can be `operator` and `engine`.
    pub fn source(&self) -> &Source {
        &self.0.signal.source
    }

    /// Returns the payload; empty when the signal has none.
    pub fn payload(&self) -> Payload {
        self.0.payload.clone().unwrap_or_default()
    }

    /// Reads the payload as JSON; `null` when the signal has none.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let bytes = self.0.payload.as_ref().map_or(&b"null"[..], |payload| &payload.bytes);
        serde_json::from_slice(bytes).map_err(Error::Decode)
    }
}
