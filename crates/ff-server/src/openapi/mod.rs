//! The description of the HTTP API, made from the types that travel and a table that says which route takes and answers which.

mod book;
mod execution;
mod flow;
mod key;
mod lease;
mod operating;
mod parameters;
mod security;
mod service;
mod suspension;

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use book::Book;
use ff_core::contracts::*;
use serde_json::{Value, json};

use crate::params::Params;
use crate::problem::Result;

macro_rules! call_descriptions {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*], $does:literal => $says:literal;)*) => {
        fn describe_calls(book: &mut Book) {
            $(book.post($path, $does)
                .takes::<ff_api::$body>(<ff_api::$body as ff_api::Call>::BODY_BYTES)
                .answers::<$answer>(200, $says)
                .refused(&[$($status),*])
                .done();)*
        }
    };
}

ff_api::calls!(call_descriptions);

/// The whole API as an OpenAPI document.
pub fn openapi() -> Value {
    let mut book = Book::new();
    service::describe(&mut book);
    execution::describe(&mut book);
    describe_calls(&mut book);
    lease::describe(&mut book);
    suspension::describe(&mut book);
    flow::describe(&mut book);
    operating::describe(&mut book);
    key::describe(&mut book);
    let (paths, components) = book.closed();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "FlowFabric",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Durable executions over HTTP. Times are milliseconds since 1970, by the store's clock. Every \
                            error is a problem document with a stable code; /errors/{code} says what it means.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": components,
    })
}

/// Tells what this API is.
pub(crate) async fn show(params: Params) -> Result<impl IntoResponse> {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi().to_string());
    params.done()?;
    Ok(([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str()))
}
