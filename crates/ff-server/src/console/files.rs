//! The files of the console, which browsers load only from this server. Its pages get their data from the API.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ff_core::engine_error::Code;

use crate::response::problem::Problem;
use crate::routing::state::ServerState;

/// A file of the console, embedded at build time.
struct File {
    path: &'static str,
    media_type: &'static str,
    /// Entity tag, which changes with the content.
    tag: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/console_files.rs"));

const PAGE: &str = "index.html";

/// Content security policy. Scripts and styles must be files of this server, never inline. Text never becomes HTML: browsers
/// enforce it because of `require-trusted-types-for`. Requests go to this server only, and no other page may embed this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
    // Browsers revalidate a file every time, so that they do not mix files of two versions after an upgrade.
    ("cache-control", "no-cache"),
];

/// Adds the routes of the console. It is not part of the API, so no route table lists it.
pub(crate) fn with_files(router: Router<ServerState>) -> Router<ServerState> {
    router
        .route("/", get(async |headers: HeaderMap| answer(PAGE, &headers)))
        .route("/console/{*path}", get(async |Path(path): Path<String>, headers: HeaderMap| answer(&path, &headers)))
}

fn answer(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == path) else {
        return Problem::from(Code::NotFound).into_response();
    };
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == file.tag.as_bytes());
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = (status, if is_known { &[][..] } else { file.bytes }).into_response();
    let own = [("etag", file.tag), ("content-type", file.media_type)];
    for (name, value) in own.iter().chain(HEADERS) {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_all_it_names_are_there() {
        let page = FILES.iter().find(|file| file.path == PAGE).unwrap();
        let text = std::str::from_utf8(page.bytes).unwrap();
        let named: Vec<_> = text.split('"').filter_map(|part| part.strip_prefix("/console/")).collect();
        assert!(named.len() > 5, "{named:?}");
        for path in named {
            assert!(FILES.iter().any(|file| file.path == path), "{path}");
        }
    }

    #[test]
    fn nothing_is_inline_and_nothing_comes_from_elsewhere() {
        for file in FILES.iter().filter(|file| !file.media_type.starts_with("text/plain")) {
            let text = std::str::from_utf8(file.bytes).unwrap();
            let own = text.replace("http://www.w3.org/", "").replace("http://127.0.0.1:7070", "");
            assert!(!own.contains("http://") && !own.contains("https://"), "{} names another host", file.path);
            for bad in ["<style", "javascript:", " onclick=", " onerror=", "dangerouslySetInnerHTML:", "eval("] {
                assert!(!text.contains(bad), "{} has {bad}", file.path);
            }
        }
    }

    #[test]
    fn scripts_are_small() {
        let bytes: usize = FILES.iter().filter(|file| file.path.ends_with(".js")).map(|file| file.bytes.len()).sum();
        assert!(bytes < 260 * 1024, "{bytes} bytes of JavaScript, before compression");
    }
}
