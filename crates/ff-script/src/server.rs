//! The server interfaces that this crate needs: one to call functions, and one to load the library.

use std::str::FromStr;

use async_trait::async_trait;
use ff_core::engine_error::EngineError;

use crate::{Fcall, FcallResult, Fields, FromFcallResult, ScriptError, Value};

/// A server or a cluster that has the library.
#[async_trait]
pub trait Server: Send + Sync {
    /// Calls a function on the server that has its keys.
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError>;
}

/// One server that accepts writes.
#[async_trait]
pub trait Primary: Send + Sync {
    /// Calls a function that has no keys. Returns none when the server has no such function.
    async fn fcall_if_there(&self, call: Fcall) -> Result<Option<Value>, EngineError>;

    /// Loads the library in place of an older one.
    async fn load(&self, library: &str) -> Result<(), EngineError>;
}

/// Calls a function. Returns the fields of its answer.
pub(crate) async fn ask(server: &dyn Server, call: Fcall) -> Result<Fields, ScriptError> {
    Ok(ask_fields(server, call).await?.0)
}

/// Calls a function. Returns the fields of its answer, and whether it found the call done before.
pub async fn ask_fields(server: &dyn Server, call: Fcall) -> Result<(Fields, bool), ScriptError> {
    let signature = call.signature;
    Ok(FcallResult::parse(signature, server.fcall(call).await?)?.into_fields())
}

/// Calls a function and reads its answer as the outcome of a published wrapper.
pub(crate) async fn ask_outcome<T: FromFcallResult>(server: &dyn Server, call: Fcall) -> Result<T, ScriptError> {
    let signature = call.signature;
    T::from_fcall_result(FcallResult::parse(signature, server.fcall(call).await?)?)
}

/// Calls a function and reads the first field of its answer.
pub(crate) async fn ask_word<T: FromStr>(server: &dyn Server, call: Fcall) -> Result<T, ScriptError> {
    ask(server, call).await?.read()
}

/// Calls a function that takes several requests at once, and reads its answer to each: its fields, and whether the
/// request was done before.
pub(crate) async fn ask_each<T>(
    server: &dyn Server,
    call: Fcall,
    read: fn(Fields, bool) -> Result<T, ScriptError>,
) -> Result<Vec<Result<T, ScriptError>>, ScriptError> {
    let signature = call.signature;
    let answers = ask(server, call).await?.list()?.into_iter();
    let one = |answer| {
        let (fields, already) = FcallResult::parse_one(signature, answer)?.into_fields();
        read(fields, already)
    };
    Ok(answers.map(one).collect())
}
