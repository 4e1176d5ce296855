//! Durations of requests, by route.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::Metrics;
use super::labels::RequestLabel;

/// Measures a request until its response begins.
pub(crate) async fn observe<F: Future<Output = Response>>(
    metrics: &Metrics,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = word_of(request.method());
    let response = answer(request).await;
    let answered = RequestLabel { method, route, status: class_of(response.status()) };
    metrics.0.gathered.answered(&answered, began.elapsed());
    response
}

/// Returns the label of a method. Callers can invent methods, so unknown ones share a label.
fn word_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn class_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}
