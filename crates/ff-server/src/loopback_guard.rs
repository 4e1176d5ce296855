//! Access to a server without keys: programs on this machine may ask, and no page a browser shows from elsewhere.
//!
//! Such a page can send requests to loopback, under its own name or under one that its owner lets resolve to loopback.
//! Browsers say which name they used and where a page is from; other programs have no reason to lie about it.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use ff_core::engine_error::{Code, Refusal};

/// Refuses a request that is addressed to another machine, or comes from a page of one that may not ask. A further host may be this
/// machine's, too.
pub(crate) fn check(headers: &HeaderMap, further: Option<&str>, is_page_allowed: bool) -> Result<(), Refusal> {
    let is_here = |host: &str| is_here(host) || further.is_some_and(|known| name(host).eq_ignore_ascii_case(known));
    let text = |name| headers.get(name).map(|value: &header::HeaderValue| value.to_str().unwrap_or_default());
    if text(header::HOST).is_some_and(|host| !is_here(host)) {
        return Err(refusal("Host", "must name this machine"));
    }
    let page = text(header::ORIGIN).map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    if !is_page_allowed && page.is_some_and(|host| !is_here(host)) {
        return Err(refusal("Origin", "must be a page of this machine"));
    }
    Ok(())
}

fn refusal(header: &str, detail: &str) -> Refusal {
    Refusal::new(Code::Unauthorized).at(header).because(detail)
}

/// Whether a host, with or without its port, is this machine by its loopback name or address.
fn is_here(host: &str) -> bool {
    let name = name(host);
    let local = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
    local || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// A host without its port.
fn name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names() {
        for host in
            ["localhost", "LOCALHOST:80", "ff.localhost:1", "127.0.0.1:7070", "127.9.9.9", "[::1]:7070", "[::1]"]
        {
            assert!(is_here(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "[::2]", "0.0.0.0"]
        {
            assert!(!is_here(host), "{host}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_is_refused() {
        let headers = |origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "127.0.0.1:7070".parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            headers
        };
        assert_eq!(check(&headers("http://localhost:3000"), None, false), Ok(()));
        assert_eq!(check(&headers("https://FF.example.org:8443"), Some("ff.example.org"), false), Ok(()));
        assert_eq!(check(&headers("https://example.org"), None, true), Ok(()));
        for origin in ["https://example.org", "null", "http://127.0.0.1.example.org"] {
            assert_eq!(
                check(&headers(origin), Some("ff.example.org"), false).unwrap_err().field.as_deref(),
                Some("Origin"),
                "{origin}"
            );
        }
    }
}
