//! No query grows with the number of waiting or finished executions: each is answered from its index, in the order of its index.

use ff_backend_sql::QUERIES;

use crate::StoreLocation;

/// The index that answers each query.
const ANSWERED_FROM: &[(&str, &str)] = &[
    ("NEXT_READY", "USING PRIMARY KEY (partition=? AND (lane,class,kind)>(?,?,?))"),
    ("HELD_ON", "USING PRIMARY KEY (partition=?)"),
    ("NEXT_TURNS", "USING PRIMARY KEY (partition=? AND (lane,class,kind)>(?,?,?))"),
    ("TURNS_ON", "USING PRIMARY KEY (partition=?)"),
    ("TURN_QUEUES_ON", "USING PRIMARY KEY (partition=?)"),
    (
        "WALK_NAMESPACE",
        "USING INDEX execution_by_namespace (namespace=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))",
    ),
    ("WALK_LANE", "USING INDEX execution_by_lane (lane=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))"),
    ("NEXT_LANE", "USING COVERING INDEX execution_by_lane (lane>?)"),
    ("NEXT_CONFIGURED_LANE", "USING PRIMARY KEY (lane>?)"),
    ("DEPTH_ACTIVE", "USING PRIMARY KEY (partition=?)"),
    ("DEPTH_COMPLETED", "USING INDEX execution_by_lane (lane=?)"),
    ("READY_ON", "USING PRIMARY KEY (partition=?)"),
    ("LEASES_ON", "USING PRIMARY KEY (partition=?)"),
    ("DUE_ON", "USING PRIMARY KEY (partition=?)"),
    ("WORKERS_AFTER", "USING PRIMARY KEY (worker_instance_id>?)"),
    ("WORKERS_BEYOND", "USING PRIMARY KEY (worker_instance_id>?)"),
    ("NEXT_QUOTA_NAMESPACE", "USING PRIMARY KEY (namespace>?)"),
    ("QUOTA_ROWS", "USING PRIMARY KEY (policy_id=? AND name>? AND name<?)"),
    ("SCHEDULES_AFTER", "USING PRIMARY KEY (namespace=? AND name>?)"),
    ("DUE_SCHEDULES", "USING COVERING INDEX schedule_look_at (partition=? AND look_at>?)"),
    ("USAGE_BACKLOG_OF", "USING PRIMARY KEY (namespace=? AND key=? AND value=?)"),
    ("API_KEYS_AFTER", "USING PRIMARY KEY (key_id>?)"),
    ("FEEDS", "USING PRIMARY KEY (partition<?)"),
    ("ATTEMPTS_OF", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("ATTEMPTS_FROM", "USING PRIMARY KEY (uuid=? AND partition=? AND idx>?)"),
    ("STREAMS_FROM", "USING PRIMARY KEY (uuid=? AND partition=? AND attempt>?)"),
    ("FRAMES_FROM", "USING PRIMARY KEY (uuid=? AND partition=? AND (attempt,seq)>(?,?))"),
    ("FRAMES_OF", "USING PRIMARY KEY (uuid=? AND partition=? AND attempt=? AND seq>?)"),
    ("STEP_HEADS_OF", "USING INDEX step_in_order (uuid=? AND partition=?)"),
    ("STEP_SIZES_AFTER", "USING INDEX step_in_order (uuid=? AND partition=? AND seq>?)"),
    ("STEPS_TO", "USING INDEX step_in_order (uuid=? AND partition=? AND seq>? AND seq<?)"),
    ("LEASES_OF", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("SURPLUS_LEASES", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("KEYS_ON", "USING PRIMARY KEY (partition=?)"),
    ("KEY_QUEUES_ON", "USING PRIMARY KEY (partition=?)"),
    ("WAITPOINTS_OF", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("SUSPEND_KEYS_OF", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("RINGS", "USING PRIMARY KEY (partition<?)"),
    ("SIGNALS_OF", "USING INDEX signal_in_order (uuid=? AND partition=?)"),
    ("SIGNALS_PAGE", "USING INDEX signal_in_order (uuid=? AND partition=? AND nth>?)"),
    ("SIGNAL_KEYS_OF", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("DELIVERIES_LAST", "USING PRIMARY KEY (partition=?)"),
    ("DELIVERIES_FIRST", "USING PRIMARY KEY (partition=?)"),
    ("DELIVERIES_FROM", "USING PRIMARY KEY (partition=? AND (recorded_at,nth)>(?,?))"),
    ("EVENTS_LAST", "USING PRIMARY KEY (partition=?)"),
    ("EVENTS_FIRST", "USING PRIMARY KEY (partition=?)"),
    ("EVENTS_FROM", "USING PRIMARY KEY (partition=? AND (recorded_at,nth)>(?,?))"),
    ("EDGES_INTO", "USING INDEX edge_in (downstream=?)"),
    ("EDGES_AFTER", "USING PRIMARY KEY (flow_id=? AND edge_id>?)"),
    ("LIST_FLOWS", "USING INDEX flow_by_namespace (namespace=? AND state=? AND (created_at,flow_id)<(?,?))"),
    ("FLOW_EVENTS_FROM", "USING PRIMARY KEY (flow_id=? AND seq>?)"),
    ("FLOW_KEYS_OF", "USING PRIMARY KEY (flow_id=?)"),
];

/// The indexes that answer each query of several tables: a walk of the first table, and joins by key.
const ANSWERED_FROM_SEVERAL: &[(&str, &[&str])] = &[
    (
        "WAITING",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            ITS_EXECUTION,
            ITS_FLOW,
            ITS_SUBMISSION,
        ],
    ),
    (
        "QUEUE",
        &["ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)", ITS_EXECUTION, ITS_SUBMISSION],
    ),
    ("EXECUTION_OF", &[ITS_EXECUTION, ITS_SUBMISSION]),
    (
        "TURNS",
        &[
            "turn_queue USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            "turn USING PRIMARY KEY (partition=? AND lane=? AND fair_key=?)",
        ],
    ),
    (
        "KEYS_AHEAD",
        &["turn_queue USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND (turn_at,fair_key)<(?,?))"],
    ),
    (
        "DEPTH_READY",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class<?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class>?)",
        ],
    ),
    (
        "WAITING_AT",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority=?)",
            ITS_EXECUTION,
            ITS_FLOW,
            ITS_SUBMISSION,
        ],
    ),
    (
        "DUE",
        &[
            "lease USING PRIMARY KEY (partition=?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
            "due USING PRIMARY KEY (partition=?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
            "flow USING INDEX flow_due (partition=? AND due_at>?)",
        ],
    ),
    (
        "NEXT_DUE",
        &[
            "lease USING PRIMARY KEY (partition=?)",
            "due USING PRIMARY KEY (partition=?)",
            "flow USING COVERING INDEX flow_due (partition=? AND due_at>?)",
        ],
    ),
    (
        "DEPTH_IN_STATE",
        &[
            "tag USING PRIMARY KEY (namespace=? AND key=? AND value=?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "WALK_TAG",
        &[
            "tag USING PRIMARY KEY \
             (namespace=? AND key=? AND value=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "WAITING_KINDS",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind>?)",
        ],
    ),
    (
        "WAITING_PRIORITIES",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority<?)",
        ],
    ),
    (
        "SCHEDULE_AGENDA",
        &[
            "schedule USING COVERING INDEX schedule_look_at (partition>?)",
            "schedule USING COVERING INDEX schedule_look_at (partition=? AND look_at>?)",
        ],
    ),
    ("AHEAD_BY_PRIORITY", &["ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority>?)"]),
    (
        "AHEAD_BY_AGE",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority=? AND (created_at,uuid)<(?,?))",
        ],
    ),
    (
        "EDGES_OUT",
        &[
            "edge USING INDEX edge_out (upstream=? AND edge_id>?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
            "edge_group USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "EDGES_IN",
        &[
            "edge USING INDEX edge_in (downstream=? AND edge_id>?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
        ],
    ),
    (
        "MEMBERS_AFTER",
        &[
            "execution USING INDEX execution_in_flow (flow_id=? AND uuid>?)",
            ITS_SUBMISSION,
            "edge_group USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "MEMBERS_FROM",
        &[
            "execution USING INDEX execution_by_position (flow_id=? AND position>?)",
            ITS_SUBMISSION,
            "edge_group USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
];

/// Joins of the queries of several tables.
const ITS_EXECUTION: &str = "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?)";
const ITS_FLOW: &str = "flow USING INDEX sqlite_autoindex_flow_1 (flow_id=? AND partition=?) LEFT-JOIN";
const ITS_SUBMISSION: &str = "submission USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN";

/// Queries of the doctor only, which reads everything anyway: from the keys, or from tables that are their own index.
const READS_EVERYTHING: &[&str] =
    &["EXECUTIONS_ON", "FLOWS_ON", "LANES_ON", "WORKERS_ON", "TAGS_ON", "STREAMS_ON", "STEPS_ON"];

fn plan(place: &StoreLocation, sql: &str) -> Vec<String> {
    let sqlite = place.look();
    let mut statement = sqlite.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let parameters = vec![0; statement.parameter_count()];
    let steps = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get("detail")).unwrap();
    steps.map(Result::unwrap).collect()
}

#[test]
fn every_query_is_answered_from_its_index() {
    let place = StoreLocation::new();
    drop(place.open());
    for (name, sql) in QUERIES {
        let plan = plan(&place, sql);
        if READS_EVERYTHING.contains(name) {
            let is_own_index = |step: &String| {
                ["SCAN lane", "SCAN worker", "SCAN tag", "SCAN stream", "SCAN step"].contains(&step.as_str())
            };
            let keys_only = |step: &String| step.contains("COVERING INDEX") || is_own_index(step);
            assert!(plan.iter().all(keys_only), "{name} reads whole rows: {plan:?}");
            continue;
        }
        if let Some((_, indexes)) = ANSWERED_FROM_SEVERAL.iter().find(|(of, _)| of == name) {
            let searches: Vec<_> = plan.iter().filter_map(|step| step.strip_prefix("SEARCH ")).collect();
            assert_eq!(searches, *indexes, "{name}");
            let sorts = |step: &String| step.contains("TEMP B-TREE") || step.starts_with("SCAN execution ");
            assert!(!plan.iter().any(sorts), "{name} does not keep to its index: {plan:?}");
            continue;
        }
        let (_, index) = ANSWERED_FROM.iter().find(|(of, _)| of == name).unwrap_or_else(|| panic!("{name} is new"));
        let [step] = &plan[..] else { panic!("{name} takes several steps: {plan:?}") };
        assert!(step.starts_with("SEARCH ") && step.ends_with(index), "{name}: {step}");
    }
}

/// Shows that the test above would notice a query without an index.
#[test]
fn a_query_without_an_index_looks_different() {
    let place = StoreLocation::new();
    drop(place.open());
    let scan = plan(&place, "SELECT uuid FROM execution WHERE changed_at = $1");
    assert!(scan[0].starts_with("SCAN "), "{scan:?}");
    let sort = plan(&place, "SELECT uuid FROM execution WHERE namespace = $1 ORDER BY changed_at");
    assert!(sort.iter().any(|step| step.contains("TEMP B-TREE")), "{sort:?}");
}
