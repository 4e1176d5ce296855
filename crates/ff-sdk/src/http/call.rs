//! One request and its answer. A refusal is distinguished from an unknown outcome.

use std::time::Duration;

use bytes::Bytes;
use ff_api::{Call, LeaseCall, Problem, Query, TAG_PREFIX};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::*;
use ff_core::engine_error::EngineError;
use ff_core::operation::Ask;
use futures_util::future::BoxFuture;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;

use super::HttpConnection;
use super::error::{root_cause, unreadable, unwritable};
use super::lease::HolderCall;
use super::tls::explained;

/// Maximum time to an answer, in addition to the time that the server was asked to wait.
const PATIENCE: Duration = Duration::from_secs(30);

impl HttpConnection {
    /// Sends a GET request to `/v1/…`.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        mut query: impl Query,
        wait_ms: u64,
    ) -> Answer<T> {
        if let Some(Some(namespace)) = query.namespace() {
            *namespace = self.effective_namespace(namespace);
        }
        let mut request = self.client.request(Method::GET, self.at(path)).query(&query);
        if let Some(tags) = query.tags() {
            let tags: Vec<_> = tags.iter().map(|(key, value)| (format!("{TAG_PREFIX}{key}"), value)).collect();
            request = request.query(&tags);
        }
        read(&answer(request, wait_ms).await?)
    }

    /// Sends a POST request to `/v1/…`, with a JSON body.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &impl Serialize,
        wait_ms: u64,
    ) -> Answer<T> {
        let body = serde_json::to_vec(body).map_err(|error| EngineError::Unavailable(error.to_string()))?;
        let request = self.client.request(Method::POST, self.at(path));
        read(&answer(request.header(CONTENT_TYPE, "application/json").body(body), wait_ms).await?)
    }

    /// Makes a call that is one operation on the subject in its path. A holder's calls about leases may share a request.
    async fn call<C: Call>(&self, args: C::Args) -> Answer<<C::Args as Ask>::Answer> {
        let (subject, mut call) = C::from_args(args);
        if let Some(Some(namespace)) = call.namespace() {
            *namespace = self.effective_namespace(namespace);
        }
        let subject = subject.to_string();
        let segments = C::PATH.trim_start_matches("/v1/").split('/');
        let path: Vec<_> = segments.map(|part| if part.starts_with('{') { subject.as_str() } else { part }).collect();
        let Some(lease_call) = LeaseCall::of_path(C::PATH) else {
            return from_reply::<C>(self.post(&path, &call, 0).await?);
        };
        let execution_id = subject.parse().map_err(unreadable)?;
        let body = to_raw_value(&call).map_err(unwritable)?;
        let verb = C::PATH.rsplit('/').next().unwrap_or_default();
        let call = HolderCall { verb, call: lease_call, execution_id, body };
        from_reply::<C>(read(self.holder_calls.call(self, call).await?.get().as_bytes())?)
    }

    fn at(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        // An HTTP URL always has a path, so this never fails.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        url
    }
}

/// Converts a reply from its form in the API to the answer of the operation.
fn from_reply<C: Call>(reply: C::Reply) -> Answer<<C::Args as Ask>::Answer> {
    let why = |error| EngineError::Unknown(format!("the server's answer cannot be read: {error}"));
    reply.try_into().map_err(why)
}

/// Sends a request and returns the body of a successful answer. Boxed and independent of the answer's type, so that it
/// is compiled once and not once per call.
fn answer(request: RequestBuilder, wait_ms: u64) -> BoxFuture<'static, Answer<Bytes>> {
    Box::pin(async move {
        let response = request.timeout(Duration::from_millis(wait_ms) + PATIENCE).send().await.map_err(unanswered)?;
        let status = response.status();
        let body = response.bytes().await.map_err(unanswered)?;
        if status.is_success() {
            return Ok(body);
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(problem.into_error()),
            Err(_) => Err(EngineError::Unknown(format!("the server answered {status} without saying why"))),
        }
    })
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Answer<T> {
    serde_json::from_slice(body).map_err(unreadable)
}

/// Classifies an error without an answer. If no connection was established, the server did nothing. Otherwise it may
/// have acted, so the outcome is unknown.
fn unanswered(error: reqwest::Error) -> EngineError {
    if let Some(why) = explained(&error) {
        return EngineError::Unavailable(why);
    }
    let cause = root_cause(&error);
    if error.is_connect() || error.is_builder() {
        EngineError::Unavailable(cause)
    } else if error.is_timeout() {
        EngineError::Unknown("the server did not answer in time".into())
    } else {
        EngineError::Unknown(format!("the connection broke before the answer came: {cause}"))
    }
}

macro_rules! call_handlers {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {$(
        impl Handle<$args, <$args as Ask>::Answer> for HttpConnection {
            async fn handle(&self, args: $args) -> Answer<<$args as Ask>::Answer> {
                self.call::<ff_api::$body>(args).await
            }
        }
    )*};
}

ff_api::calls!(call_handlers);
