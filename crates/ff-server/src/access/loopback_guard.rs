//! Access to a server without API keys: programs on this machine may call it, web pages from other hosts may not.
//!
//! A page can send requests to loopback, under its own host name or under one that its owner resolves to loopback. Browsers
//! send the host name they used and the origin of the page; other programs have no reason to lie about them.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use ff_core::engine_error::{Code, Refusal};

/// Refuses a request that names another host, or comes from a page of another host, unless that page is allowed. `further` is
/// another host name of this server.
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

/// Returns whether a host, with or without a port, is a loopback name or address.
fn is_here(host: &str) -> bool {
    let name = name(host);
    let local = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
    local || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Returns a host without its port.
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
