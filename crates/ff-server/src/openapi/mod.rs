//! The OpenAPI document of the HTTP API, generated from the request and response types and a table of routes.

mod builder;
mod routes;
mod security;

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use builder::OpenApiBuilder;
use ff_api::{NoQuery, RecordStepReply};
use ff_core::contracts::*;
use serde_json::{Value, json};

use crate::request::params::Params;
use crate::response::problem::Result;

macro_rules! call_descriptions {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {
        fn describe_calls(api: &mut OpenApiBuilder) {
            $(api.post($path, $does)
                .takes::<ff_api::$body>()
                .answers::<$answer>(200, $says)
                .refused(&[$($status),*])
                .done();)*
        }
    };
}

ff_api::calls!(call_descriptions);

/// Returns the OpenAPI document of the whole API.
pub fn openapi() -> Value {
    let mut api = OpenApiBuilder::new();
    routes::describe(&mut api);
    routes::describe_text(&mut api);
    describe_calls(&mut api);
    let (paths, components) = api.closed();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "FlowFabric",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Durable executions over HTTP. Times are milliseconds since 1970, by the store's clock. Every \
                            error is a problem document with a stable code; /errors/{code} describes it.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": components,
    })
}

/// Serves the OpenAPI document.
pub(crate) async fn show(_: Params<NoQuery>) -> Result<impl IntoResponse> {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi().to_string());
    Ok(([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str()))
}
