//! Browser sessions: the browser sends an API key once, and then a cookie in its place, which no script of a page can read.
//!
//! The cookie contains the key and the end of the session, encrypted. A copy of the store is not enough to make a cookie,
//! because the store has no keys. A leaked cookie does not reveal the key, and is refused after its end or after the key is
//! revoked. Servers of one store accept each other's cookies.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use ff_api::{BeginSession, EndSession, NoQuery, Session};
use ff_core::api_key::{SecretKey, unauthenticated, unknown_key};
use ff_core::engine_error::{Code, Refusal};

use crate::access::bearer;
use crate::access::callers::Caller;
use crate::access::sealer::{SealedContent, Sealer};
use crate::request::body::Body;
use crate::request::params::Params;
use crate::response::problem::Result;
use crate::routing::links::Links;

const COOKIE: &str = "ff_session";

/// Encryption purpose of cookies.
const PURPOSE: &str = "browser session";

/// Duration of a session.
const LASTS: Duration = Duration::from_secs(12 * 3_600);

/// Header that only a page of this server can send: a page of another origin would need a preflight, which is refused. Requests
/// that change something need it in addition to the cookie.
const OWN_PAGE: &str = "FF-Console";

/// Returns the session of the caller.
pub(crate) async fn show(caller: Caller, _: Params<NoQuery>) -> Result<Json<Session>> {
    Ok(Json(of(&caller)))
}

fn of(caller: &Caller) -> Session {
    let key = caller.key().cloned();
    Session { version: env!("CARGO_PKG_VERSION").to_owned(), keys: key.is_some(), key }
}

/// Sets a cookie that contains the key of this request. The key is in the header, so the guard has checked it.
pub(crate) async fn begin(
    caller: Caller,
    State(sealer): State<Arc<Sealer>>,
    State(links): State<Links>,
    headers: HeaderMap,
    Body(BeginSession {}): Body<BeginSession>,
) -> Result<Response> {
    let answer = Json(of(&caller));
    if caller.key().is_none() {
        return Ok(answer.into_response());
    }
    let key = bearer::presented_key(&headers)?.ok_or_else(|| unauthenticated("must hold a key: Bearer ff_…"))?;
    let until = sealer.now().await? + u64::try_from(LASTS.as_millis()).unwrap_or(u64::MAX);
    let bytes = [&until.0.to_be_bytes()[..], key.expose().as_bytes()].concat();
    let sealed = sealer.seal(PURPOSE, bytes).await?;
    let cookie = cookie(&sealed, LASTS, &links);
    Ok(([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_owned())], answer).into_response())
}

/// Removes the cookie.
pub(crate) async fn end(State(links): State<Links>, Body(EndSession {}): Body<EndSession>) -> Response {
    ([(header::SET_COOKIE, cookie("", Duration::ZERO, &links))], Json(EndSession {})).into_response()
}

fn cookie(value: &str, lasts: Duration, links: &Links) -> String {
    let secure = if links.is_private() { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", lasts.as_secs())
}

/// Returns the key in the cookie of a request, if any. The outer error means that the request may not use its cookie, or that
/// the store failed.
pub(crate) async fn presented_key(
    sealer: &Sealer,
    method: &Method,
    headers: &HeaderMap,
) -> Result<std::result::Result<Option<SecretKey>, Refusal>> {
    let Some(sealed) = find(headers) else { return Ok(Ok(None)) };
    if !matches!(*method, Method::GET | Method::HEAD) && !headers.contains_key(OWN_PAGE) {
        let why = "must be sent with a change that is made in a session";
        return Err(Refusal::new(Code::Unauthorized).at(OWN_PAGE).because(why).into());
    }
    Ok(match sealer.open(PURPOSE, sealed).await? {
        SealedContent::Bytes { bytes, now } => match read(&bytes) {
            Some((until, key)) if now.0 < until => Ok(Some(key)),
            Some(_) => Err(unauthenticated("the session is over: log in again")),
            None => Err(unknown_key()),
        },
        SealedContent::Retired => Err(unauthenticated("the session is over: log in again")),
        SealedContent::Invalid => Err(unknown_key()),
    })
}

fn find(headers: &HeaderMap) -> Option<&str> {
    let lists = headers.get_all(header::COOKIE).iter().filter_map(|list| list.to_str().ok());
    let mut pairs = lists.flat_map(|list| list.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, value)| *name == COOKIE && !value.is_empty()).map(|(_, value)| value)
}

fn read(bytes: &[u8]) -> Option<(i64, SecretKey)> {
    let (until, key) = bytes.split_first_chunk::<8>()?;
    Some((i64::from_be_bytes(*until), SecretKey::parse(std::str::from_utf8(key).ok()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let headers = |list: &str| HeaderMap::from_iter([(header::COOKIE, list.parse().unwrap())]);
        assert_eq!(find(&headers("theme=dark; ff_session=abc; x=1")), Some("abc"));
        for list in ["theme=dark", "ff_session=", "not_ff_session=abc", "ff_session"] {
            assert_eq!(find(&headers(list)), None, "{list}");
        }
    }

    #[test]
    fn a_cookie_is_for_this_server_only_and_private_where_the_server_is() {
        let plain = cookie("abc", LASTS, &Links::new(None, false));
        assert_eq!(plain, "ff_session=abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
        assert!(cookie("abc", LASTS, &Links::new(None, true)).ends_with("; Secure"));
        let behind_tls = Links::new(Some("https://ff.example".parse().unwrap()), false);
        assert!(cookie("abc", LASTS, &behind_tls).ends_with("; Secure"));
    }
}
