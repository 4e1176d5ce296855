//! CORS: pages of configured origins may read streams. A browser lets a page read a response that names the page's origin.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::routing::route_table;

/// Headers that a page may send: an API key in place of a token, and the id of its last event.
const HEADERS: HeaderValue = HeaderValue::from_static("Authorization, Last-Event-ID");

/// Seconds for which a browser may cache a preflight response.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("600");

/// The origin of a page, as browsers write it: scheme, host, and the port unless it is the scheme's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorsOrigin(HeaderValue);

/// A text that is not an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOrigin;

impl std::error::Error for BadOrigin {}

impl fmt::Display for BadOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must be http:// or https://, a host and perhaps a port, as in https://app.example or http://localhost:3000, \
             without a path and without *",
        )
    }
}

impl FromStr for CorsOrigin {
    type Err = BadOrigin;

    fn from_str(text: &str) -> Result<Self, BadOrigin> {
        let uri = text.parse::<Uri>().map_err(|_| BadOrigin)?;
        let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or(BadOrigin)?;
        let own_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(BadOrigin),
        };
        let place = authority.as_str();
        let is_whole = text.len() == scheme.len() + "://".len() + place.len();
        let has_sound_port = place.len() == authority.host().len() || authority.port_u16().is_some();
        if !is_whole || !has_sound_port || authority.host().is_empty() || place.contains(['*', '@']) {
            return Err(BadOrigin);
        }
        let place = place.strip_suffix(own_port).unwrap_or(place);
        let written = format!("{scheme}://{place}").to_ascii_lowercase();
        HeaderValue::from_str(&written).map(Self).map_err(|_| BadOrigin)
    }
}

/// The origins whose pages may read streams.
#[derive(Clone, Default)]
pub(crate) struct Cors(Arc<[CorsOrigin]>);

impl Cors {
    pub(crate) fn new(origins: Vec<CorsOrigin>) -> Self {
        Self(origins.into())
    }

    /// Returns whether pages of any configured origin may read the response to this request.
    fn covers(&self, request: &Request) -> bool {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        !self.0.is_empty() && path == Some(route_table::STREAM)
    }

    /// Returns the origin of a request, if its pages may read streams.
    fn allowed(&self, headers: &HeaderMap) -> Option<&HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().map(|CorsOrigin(known)| known).find(|known| *known == origin)
    }

    /// Returns whether a request comes from a page that may read the response.
    pub(crate) fn allows(&self, request: &Request) -> bool {
        self.covers(request) && self.allowed(request.headers()).is_some()
    }
}

/// Answers preflight requests, and adds the CORS headers to every response that pages may read.
pub(crate) async fn cors<F: Future<Output = Response>>(
    cors: &Cors,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    if !cors.covers(&request) {
        return answer(request).await;
    }
    let origin = cors.allowed(request.headers()).cloned();
    let is_question =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_question && origin.is_some() { permission() } else { answer(request).await };
    // The response depends on the origin, which caches must know.
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// Returns the response to a preflight request: the method and headers that a page may use.
fn permission() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET")),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, ASK_AGAIN),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_browsers_write_it() {
        for (text, written) in [
            ("https://app.example", "https://app.example"),
            ("HTTPS://App.Example:443", "https://app.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://app.example:80", "http://app.example"),
            ("http://app.example:443", "http://app.example:443"),
            ("http://[::1]:3000", "http://[::1]:3000"),
        ] {
            assert_eq!(text.parse::<CorsOrigin>(), Ok(CorsOrigin(HeaderValue::from_static(written))), "{text}");
        }
    }

    #[test]
    fn whatever_else_is_no_origin() {
        for text in [
            "",
            "*",
            "null",
            "app.example",
            "app.example:443",
            "//app.example",
            "https://",
            "https://*",
            "https://*.example",
            "https://app.example/",
            "https://app.example/page",
            "https://app.example?x",
            "https://app.example#x",
            "https://ada@app.example",
            "https://app.example:",
            "https://app.example:99999",
            "https://app.example:x",
            "ftp://app.example",
            "file:///page.html",
            "https://app.example https://b.example",
            "https://äpp.example",
        ] {
            assert_eq!(text.parse::<CorsOrigin>(), Err(BadOrigin), "{text}");
        }
    }
}
