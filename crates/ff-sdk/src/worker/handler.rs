//! Handlers: ordinary async functions, and the replies they may return.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ff_core::engine_error::Code;
use ff_core::execution::Failure;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Context;
use crate::Error;

/// The reply of a handler.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The work is done.
    Done(Option<Payload>),
    /// The execution is delayed for this time. Then the same attempt continues.
    Later(Duration),
}

impl Reply {
    /// Creates the reply of finished work without a result.
    pub fn done() -> Self {
        Self::Done(None)
    }

    /// Creates the reply of finished work with this payload as its result.
    pub fn payload(payload: Payload) -> Self {
        Self::Done(Some(payload))
    }
}

/// A handler's return value on success: a [`Reply`], or any value, which becomes a JSON result.
pub trait IntoReply {
    fn into_reply(self) -> Result<Reply, Fault>;
}

impl IntoReply for Reply {
    fn into_reply(self) -> Result<Reply, Fault> {
        Ok(self)
    }
}

impl<T: Serialize> IntoReply for T {
    fn into_reply(self) -> Result<Reply, Fault> {
        let text = serde_json::to_vec(&self)
            .map_err(|error| Fault::permanent("invalid_result", format!("the result cannot be JSON: {error}")))?;
        Ok(Reply::payload(Payload::json(text)))
    }
}

/// A handler's error. Any [`std::error::Error`] converts to a retryable fault of the category `error`, except that the
/// code `budget_exceeded` becomes a permanent fault of that category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub category: String,
    pub message: String,
    pub permanent: bool,
}

impl Fault {
    /// Creates a fault that a retry may fix.
    pub fn retryable(category: &str, message: impl Into<String>) -> Self {
        Self { category: category.to_owned(), message: message.into(), permanent: false }
    }

    /// Creates a fault that no retry can fix, so the execution is not retried.
    pub fn permanent(category: &str, message: impl Into<String>) -> Self {
        Self { category: category.to_owned(), message: message.into(), permanent: true }
    }
}

impl<E: std::error::Error + 'static> From<E> for Fault {
    fn from(error: E) -> Self {
        let code = (&error as &dyn std::error::Error).downcast_ref::<Error>().and_then(Error::code);
        match code {
            Some(Code::BudgetExceeded) => Self::permanent(Code::BudgetExceeded.as_str(), error.to_string()),
            _ => Self::retryable("error", error.to_string()),
        }
    }
}

/// A handler: `async fn(Context) -> Result<R, Fault>`, or `async fn(Context, Input) -> Result<R, Fault>` with the payload
/// read as JSON.
pub trait Handler<Arguments>: Send + Sync + 'static {
    fn call(&self, context: Context) -> HandlerFuture;
}

/// The future of a running handler.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

pub(super) type SharedHandler = Arc<dyn Fn(Context) -> HandlerFuture + Send + Sync>;

impl<F, Fut, R> Handler<(Context,)> for F
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    R: IntoReply,
{
    fn call(&self, context: Context) -> HandlerFuture {
        let handling = self(context);
        Box::pin(async move { handling.await?.into_reply() })
    }
}

impl<F, Fut, R, Input> Handler<(Context, Input)> for F
where
    F: Fn(Context, Input) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    R: IntoReply,
    Input: DeserializeOwned,
{
    fn call(&self, context: Context) -> HandlerFuture {
        match context.json::<Input>() {
            Ok(input) => {
                let handling = self(context, input);
                Box::pin(async move { handling.await?.into_reply() })
            }
            Err(fault) => Box::pin(async move { Err(fault) }),
        }
    }
}

/// Converts a panic to a fault with the same message.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Fault {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Fault::retryable("panic", message.unwrap_or_else(|| "it panicked, and said nothing".to_owned()))
}

/// Converts a fault to a failure that the engine accepts: with a valid category, and a message within the size limit.
pub(super) fn failure(fault: &Fault) -> Failure {
    let category = Kind::parse(&fault.category)
        .or_else(|_| Kind::parse("error"))
        .unwrap_or_else(|never| unreachable!("\"error\" is a name: {never}"));
    let mut message = fault.message.clone();
    if message.len() > limits::MESSAGE_BYTES {
        let cut = (0..=limits::MESSAGE_BYTES).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
        message.truncate(cut);
    }
    Failure { category, message, permanent: fault.permanent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_made_to_fit() {
        let long = failure(&Fault::retryable("not a name", "é".repeat(limits::MESSAGE_BYTES)));
        assert_eq!(long.category.as_str(), "error");
        assert_eq!(long.message.len(), limits::MESSAGE_BYTES);
    }
}
