//! The interfaces of a server that this crate needs: to call functions, and to load the library.

use std::str::FromStr;

use async_trait::async_trait;
use ff_core::engine_error::EngineError;

use crate::{Fcall, FcallResult, Fields, FromFcallResult, ScriptError, Value};

/// A server, or a cluster of them, that has the library.
#[async_trait]
pub trait Server: Send + Sync {
    /// Calls a function where its keys are.
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError>;
}

/// One server that writes go to.
#[async_trait]
pub trait Primary: Send + Sync {
    /// Calls a function that has no keys; nothing when the server has no such function.
    async fn fcall_if_there(&self, call: Fcall) -> Result<Option<Value>, EngineError>;

    /// Gives it the library, in place of an older one.
    async fn load(&self, library: &str) -> Result<(), EngineError>;
}

/// Calls a function and reads its answer.
pub(crate) async fn ask<T: FromFcallResult>(server: &dyn Server, call: Fcall) -> Result<T, ScriptError> {
    let signature = call.signature;
    T::from_fcall_result(FcallResult::parse(signature, server.fcall(call).await?)?)
}

/// Calls a function: the fields of its answer, and whether it found it done before.
pub async fn ask_fields(server: &dyn Server, call: Fcall) -> Result<(Fields, bool), ScriptError> {
    let signature = call.signature;
    Ok(FcallResult::parse(signature, server.fcall(call).await?)?.into_fields())
}

/// Calls a function and reads the first field of its answer.
pub(crate) async fn ask_word<T: FromStr>(server: &dyn Server, call: Fcall) -> Result<T, ScriptError> {
    let (mut fields, _) = ask_fields(server, call).await?;
    fields.read()
}

/// Calls a function that is asked several things at once, and reads its answer to each.
pub(crate) async fn ask_each<T: FromFcallResult>(
    server: &dyn Server,
    call: Fcall,
) -> Result<Vec<Result<T, ScriptError>>, ScriptError> {
    let signature = call.signature;
    let (mut fields, _) = ask_fields(server, call).await?;
    let answers = fields.list()?.into_iter();
    Ok(answers.map(|answer| T::from_fcall_result(FcallResult::parse_one(signature, answer)?)).collect())
}
