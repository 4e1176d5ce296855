//! No query grows with the number of waiting or finished executions: each is answered from its index, in the order of its index.

use ff_backend_sql::QUERIES;
use ff_engine::Orchestration;
use serde_json::Value;
use tokio_postgres::Client;

use crate::StoreLocation;
use crate::flows::chain;

/// The indexes that answer each query, unless it is the key of its only table.
const ANSWERED_FROM: &[(&str, &[&str])] = &[
    ("waiting", &["ready_order", "execution_pkey", "flow_pkey", "submission_pkey"]),
    (
        "due",
        &[
            "lease_pkey",
            "execution_pkey",
            "submission_pkey",
            "due_pkey",
            "execution_pkey",
            "submission_pkey",
            "flow_due",
        ],
    ),
    ("execution_of", &["execution_pkey", "submission_pkey"]),
    ("next_due", &["lease_pkey", "due_pkey", "flow_due"]),
    ("next_ready", &["ready_order"]),
    // The plan shows how the first of them is found. The others are found the same way, starting after the last one.
    ("waiting_kinds", &["ready_order"]),
    ("waiting_priorities", &["ready_order"]),
    ("waiting_at", &["ready_order", "execution_pkey", "flow_pkey", "submission_pkey"]),
    ("walk_namespace", &["execution_by_namespace"]),
    ("walk_lane", &["execution_by_lane"]),
    ("walk_label", &["tag_pkey", "execution_pkey"]),
    ("next_lane", &["execution_by_lane"]),
    ("depth_ready", &["ready_order", "ready_order"]),
    ("queue", &["ready_order", "execution_pkey", "submission_pkey"]),
    ("turns", &["turn_queue_order", "turn_pkey"]),
    ("next_turns", &["turn_queue_order"]),
    ("keys_ahead", &["turn_queue_order"]),
    ("turn_queues_on", &["turn_queue_order"]),
    ("depth_in_state", &["tag_pkey", "execution_pkey"]),
    ("ahead_by_priority", &["ready_order"]),
    ("ahead_by_age", &["ready_order"]),
    ("ready_on", &["ready_order"]),
    ("signals_of", &["signal_in_order"]),
    ("signals_page", &["signal_in_order"]),
    ("edges_out", &["edge_out", "execution_pkey", "submission_pkey", "edge_group_pkey"]),
    ("edges_in", &["edge_in", "execution_pkey", "submission_pkey"]),
    ("edges_into", &["edge_in"]),
    ("members_after", &["execution_in_flow", "submission_pkey", "edge_group_pkey"]),
    ("members_from", &["execution_by_position", "submission_pkey", "edge_group_pkey"]),
    ("list_flows", &["flow_by_namespace"]),
    ("due_schedules", &["schedule_look_at"]),
    ("schedule_agenda", &["schedule_look_at"]),
    ("step_heads_of", &["step_in_order"]),
    ("step_sizes_after", &["step_in_order"]),
    ("steps_to", &["step_in_order"]),
];

/// Queries of the doctor only, which reads everything anyway.
const READS_EVERYTHING: &[&str] = &["executions_on", "flows_on", "labels_on", "streams_on", "steps_on"];

/// Queries that find rows by their keys and then compare each one: with a lane, or with the completed state.
const LOOKS_AT_EACH: &[(&str, &[&str])] =
    &[("held_on", &["lease_pkey"]), ("depth_active", &["lease_pkey"]), ("depth_completed", &["execution_by_lane"])];

/// Queries that compare each row of a table that stays small.
const READS_A_SMALL_TABLE: &[&str] = &["lanes_on", "workers_on"];

/// Returns the steps of a query's plan, as the store's own connections plan it.
async fn plan(client: &Client, sql: &str) -> Vec<Value> {
    let statement = client.prepare(sql).await.unwrap();
    let nulls = vec!["NULL"; statement.params().len()].join(", ");
    client.batch_execute(&format!("PREPARE question AS {sql}")).await.unwrap();
    let arguments = if nulls.is_empty() { nulls } else { format!("({nulls})") };
    let explain = format!("EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE question{arguments}");
    let plan = client.simple_query(&explain).await.unwrap();
    client.batch_execute("DEALLOCATE question").await.unwrap();
    let text: String = plan
        .iter()
        .filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    let plan: Value = serde_json::from_str(&text).unwrap();
    let mut steps = vec![plan[0]["Plan"].clone()];
    let mut nth = 0;
    while let Some(step) = steps.get(nth) {
        let inner = step["Plans"].as_array().cloned().unwrap_or_default();
        steps.extend(inner);
        nth += 1;
    }
    steps
}

/// Opens a connection with the settings of a store's connections, in a database without table statistics.
async fn as_the_store(place: &StoreLocation) -> Client {
    drop(place.open().await);
    let client = place.look().await;
    let settings = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off;
        SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";
    client.batch_execute(settings).await.unwrap();
    client
}

#[tokio::test]
async fn every_query_is_answered_from_its_index() {
    let place = StoreLocation::new();
    let client = as_the_store(&place).await;
    check_plans(&client).await;
    // A server counts the rows of a new store when there are about fifty. Until it counts again, it plans for a small store.
    let store = place.open().await;
    for _ in 0..60 {
        store.submit_flow(chain(2)).await.unwrap();
    }
    client.batch_execute("ANALYZE").await.unwrap();
    check_plans(&client).await;
}

async fn check_plans(client: &Client) {
    for (name, sql) in QUERIES.iter().filter(|(name, _)| !READS_A_SMALL_TABLE.contains(name)) {
        let steps = plan(client, sql).await;
        let nodes: Vec<_> = steps.iter().map(|step| step["Node Type"].as_str().unwrap()).collect();
        assert!(!nodes.contains(&"Sort") && !nodes.contains(&"Seq Scan"), "{name}: {nodes:?}");
        // Rows of a join are found by their keys, not among all rows of an index.
        assert!(steps.iter().all(|step| step["Join Filter"].is_null()), "{name}: {steps:?}");
        if READS_EVERYTHING.contains(name) {
            continue;
        }
        let scans: Vec<_> = steps.iter().filter(|step| !step["Index Name"].is_null()).collect();
        for scan in &scans {
            let looks = LOOKS_AT_EACH.iter().any(|(of, _)| of == name);
            assert!(!scan["Index Cond"].is_null() && (looks || scan["Filter"].is_null()), "{name}: {scan}");
        }
        let indexes: Vec<_> = scans.iter().map(|scan| scan["Index Name"].as_str().unwrap()).collect();
        match ANSWERED_FROM.iter().chain(LOOKS_AT_EACH).find(|(of, _)| of == name) {
            Some((_, expected)) => assert_eq!(sorted(&indexes), sorted(expected), "{name}"),
            None => assert!(matches!(indexes[..], [index] if index.ends_with("_pkey")), "{name}: {indexes:?}"),
        }
    }
}

fn sorted<'i>(indexes: &[&'i str]) -> Vec<&'i str> {
    let mut indexes = indexes.to_vec();
    indexes.sort_unstable();
    indexes
}

/// Shows that the test above would notice a query without an index.
#[tokio::test]
async fn a_query_without_an_index_looks_different() {
    let place = StoreLocation::new();
    let client = as_the_store(&place).await;
    let scan = plan(&client, "SELECT uuid FROM execution WHERE changed_at = $1").await;
    assert!(!scan.last().unwrap()["Filter"].is_null(), "{scan:?}");
    let sort = plan(&client, "SELECT uuid FROM execution WHERE namespace = $1 ORDER BY changed_at").await;
    assert!(sort.iter().any(|step| step["Node Type"] == "Sort"), "{sort:?}");
}
