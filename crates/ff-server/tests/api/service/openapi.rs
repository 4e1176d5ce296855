//! The OpenAPI document: it describes exactly the routes, and the checked-in copy is up to date.

use std::collections::BTreeSet;

use ff_server::{ROUTES, openapi};
use serde_json::Value;

use crate::world::World;

#[test]
fn every_route_is_described_and_nothing_else_is() {
    let document = openapi();
    let paths = document["paths"].as_object().unwrap();
    let methods = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().unwrap().keys().cloned();
        methods.map(|method| (method, path.clone())).collect::<Vec<_>>()
    };
    let described: BTreeSet<_> = paths.iter().flat_map(methods).collect();
    let served: BTreeSet<_> =
        ROUTES.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(described, served);
}

/// Client generators name their functions by operation ids, and do not support the schema `true`.
#[test]
fn every_operation_has_a_name_of_its_own_and_any_value_is_an_object() {
    let document = openapi();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: Vec<_> = paths.flat_map(|methods| methods.as_object().unwrap().values()).collect();
    let names: BTreeSet<_> = operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), operations.len());
    assert!(names.contains("execution_submit") && names.iter().all(|name| !name.contains(':')), "{names:?}");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let is_true = |(name, schema): (&String, &Value)| (*schema == Value::Bool(true)).then(|| name.clone());
    for (name, schema) in schemas {
        let fields: Vec<_> = schema["properties"].as_object().into_iter().flatten().filter_map(is_true).collect();
        assert!(fields.is_empty() && schema["items"] != true, "{name}: {fields:?}");
    }
}

#[test]
fn whatever_is_referred_to_is_there() {
    let document = openapi();
    let mut found = 0;
    refer(&document, &mut |reference| {
        found += 1;
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "there is no {reference}");
    });
    assert!(found > 100, "only {found} references were looked at");
}

#[test]
fn the_document_that_is_checked_in_is_this_one() {
    let file = include_str!("../../../../../docs/openapi.json");
    let made = serde_json::to_string_pretty(&openapi()).unwrap();
    assert!(file.trim_end() == made, "docs/openapi.json is another: run `ff openapi > docs/openapi.json`");
}

#[tokio::test]
async fn the_server_serves_its_openapi_document() {
    assert_eq!(World::start().await.get("/openapi.json").await.body, openapi());
}

fn refer(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                found(reference);
            }
            fields.values().for_each(|value| refer(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| refer(value, found)),
        _ => {}
    }
}
