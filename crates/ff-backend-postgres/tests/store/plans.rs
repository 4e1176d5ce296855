//! No query grows with the number of waiting or finished executions: each is answered from its index, in the order of its index.

use ff_backend_sql::QUERIES;
use ff_engine::Orchestration;
use serde_json::Value;
use tokio_postgres::Client;

use crate::StoreLocation;
use crate::shared::flow::chain;

/// The indexes that answer each query, unless it is the key of its only table.
const ANSWERED_FROM: &[(&str, &[&str])] = &[
    ("WAITING", &["ready_order", "execution_pkey", "flow_pkey", "submission_pkey"]),
    (
        "DUE",
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
    ("EXECUTION_OF", &["execution_pkey", "submission_pkey"]),
    ("NEXT_DUE", &["lease_pkey", "due_pkey", "flow_due"]),
    ("NEXT_READY", &["ready_order"]),
    // The plan shows how the first of them is found. The others are found the same way, starting after the last one.
    ("WAITING_KINDS", &["ready_order"]),
    ("WAITING_PRIORITIES", &["ready_order"]),
    ("WAITING_AT", &["ready_order", "execution_pkey", "flow_pkey", "submission_pkey"]),
    ("WALK_NAMESPACE", &["execution_by_namespace"]),
    ("WALK_LANE", &["execution_by_lane"]),
    ("WALK_TAG", &["tag_pkey", "execution_pkey"]),
    ("NEXT_LANE", &["execution_by_lane"]),
    ("DEPTH_READY", &["ready_order", "ready_order"]),
    ("QUEUE", &["ready_order", "execution_pkey", "submission_pkey"]),
    ("TURNS", &["turn_queue_order", "turn_pkey"]),
    ("NEXT_TURNS", &["turn_queue_order"]),
    ("KEYS_AHEAD", &["turn_queue_order"]),
    ("TURN_QUEUES_ON", &["turn_queue_order"]),
    ("DEPTH_IN_STATE", &["tag_pkey", "execution_pkey"]),
    ("AHEAD_BY_PRIORITY", &["ready_order"]),
    ("AHEAD_BY_AGE", &["ready_order"]),
    ("READY_ON", &["ready_order"]),
    ("SIGNALS_OF", &["signal_in_order"]),
    ("SIGNALS_PAGE", &["signal_in_order"]),
    ("EDGES_OUT", &["edge_out", "execution_pkey", "submission_pkey", "edge_group_pkey"]),
    ("EDGES_IN", &["edge_in", "execution_pkey", "submission_pkey"]),
    ("EDGES_INTO", &["edge_in"]),
    ("MEMBERS_AFTER", &["execution_in_flow", "submission_pkey", "edge_group_pkey"]),
    ("MEMBERS_FROM", &["execution_by_position", "submission_pkey", "edge_group_pkey"]),
    ("LIST_FLOWS", &["flow_by_namespace"]),
    ("DUE_SCHEDULES", &["schedule_look_at"]),
    ("SCHEDULE_AGENDA", &["schedule_look_at"]),
    ("STEP_HEADS_OF", &["step_in_order"]),
    ("STEP_SIZES_AFTER", &["step_in_order"]),
    ("STEPS_TO", &["step_in_order"]),
];

/// Queries of the doctor only, which reads everything anyway.
const READS_EVERYTHING: &[&str] = &["EXECUTIONS_ON", "FLOWS_ON", "TAGS_ON", "STREAMS_ON", "STEPS_ON"];

/// Queries that find rows by their keys and then compare each one: with a lane, or with the completed state.
const LOOKS_AT_EACH: &[(&str, &[&str])] =
    &[("HELD_ON", &["lease_pkey"]), ("DEPTH_ACTIVE", &["lease_pkey"]), ("DEPTH_COMPLETED", &["execution_by_lane"])];

/// Queries that compare each row of a table that stays small.
const READS_A_SMALL_TABLE: &[&str] = &["LANES_ON", "WORKERS_ON"];

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
