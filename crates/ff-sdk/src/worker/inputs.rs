//! What upstreams passed on: handed over with the claim, or read from the store where it was too much.

use ff_core::backend::EngineBackend;
use ff_core::contracts::Input;
use ff_core::payload::Payload;
use serde::de::DeserializeOwned;

use super::Fault;
use crate::{End, Error};

/// The bytes that were passed on under a name.
pub(super) async fn payload(backend: &dyn EngineBackend, inputs: &[Input], name: &str) -> Result<Payload, Fault> {
    let Some(input) = inputs.iter().find(|input| input.name.as_str() == name) else {
        return Err(missing(inputs, name));
    };
    if let Some(payload) = &input.payload {
        return Ok(payload.clone());
    }
    // The upstream may run again meanwhile, and have a result another time.
    let gone = |error: Error| Fault::retryable("input_unavailable", format!("the input {name}: {error}"));
    let ended = backend.result(&input.from).await.map_err(|error| gone(error.into()))?;
    End(ended).payload().map_err(gone)
}

/// The same read as JSON. What cannot be read never will be, so the fault is permanent.
pub(super) fn json<T: DeserializeOwned>(name: &str, payload: &Payload) -> Result<T, Fault> {
    let text: &[u8] = if payload.bytes.is_empty() { b"null" } else { &payload.bytes };
    let unreadable = |error: serde_json::Error| Fault::permanent("invalid_input", format!("the input {name}: {error}"));
    serde_json::from_slice(text).map_err(unreadable)
}

fn missing(inputs: &[Input], name: &str) -> Fault {
    let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
    let there =
        if names.is_empty() { "no input was passed on".into() } else { format!("there are {}", names.join(", ")) };
    Fault::permanent("missing_input", format!("nothing was passed on as {name}: {there}"))
}
