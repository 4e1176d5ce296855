//! Listing: by namespace, lane and state, a page at a time.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::World;

fn ids(page: &Value) -> Vec<String> {
    let rows = page["executions"].as_array().unwrap();
    rows.iter().map(|row| row["execution_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_together_are_the_whole_list() {
    let world = World::start().await;
    let mut submitted = BTreeSet::new();
    for _ in 0..5 {
        submitted.insert(world.submit(&json!({"kind": "k"})).await);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    let mut sizes = Vec::new();
    loop {
        let page = world.get(&format!("/v1/executions?limit=2{cursor}")).await;
        sizes.push(ids(&page.body).len());
        seen.extend(ids(&page.body));
        match page.body.get("next_cursor") {
            Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
            None => break,
        }
    }
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(seen.iter().cloned().collect::<BTreeSet<_>>(), submitted);
}

#[tokio::test]
async fn a_list_has_only_matching_executions() {
    let world = World::start().await;
    let mail = world.submit(&json!({"kind": "k", "lane": "mail"})).await;
    let other = world.submit(&json!({"kind": "k", "namespace": "acme"})).await;
    let held = world.running("held").await;
    let id = held.0["execution_id"].as_str().unwrap().to_owned();
    for (query, expected) in [
        ("lane=mail", mail),
        ("namespace=acme", other),
        ("state=active", id),
        ("state=active&lane=default&limit=9", held.0["execution_id"].as_str().unwrap().to_owned()),
    ] {
        assert_eq!(ids(&world.get(&format!("/v1/executions?{query}")).await.body), [expected], "{query}");
    }
    assert_eq!(ids(&world.get("/v1/executions?state=failed").await.body), [""; 0]);
}
