//! No query grows with the number of waiting or finished executions: each is answered from its index, in the order of its index.

use ff_backend_sql::QUERIES;

use crate::StoreLocation;

/// The index that answers each query.
const ANSWERED_FROM: &[(&str, &str)] = &[
    ("next_ready", "USING PRIMARY KEY (partition=? AND (lane,class,kind)>(?,?,?))"),
    ("held_on", "USING PRIMARY KEY (partition=?)"),
    ("next_turns", "USING PRIMARY KEY (partition=? AND (lane,class,kind)>(?,?,?))"),
    ("turns_on", "USING PRIMARY KEY (partition=?)"),
    ("turn_queues_on", "USING PRIMARY KEY (partition=?)"),
    (
        "walk_namespace",
        "USING INDEX execution_by_namespace (namespace=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))",
    ),
    ("walk_lane", "USING INDEX execution_by_lane (lane=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))"),
    ("next_lane", "USING COVERING INDEX execution_by_lane (lane>?)"),
    ("next_configured_lane", "USING PRIMARY KEY (lane>?)"),
    ("depth_active", "USING PRIMARY KEY (partition=?)"),
    ("depth_completed", "USING INDEX execution_by_lane (lane=?)"),
    ("ready_on", "USING PRIMARY KEY (partition=?)"),
    ("leases_on", "USING PRIMARY KEY (partition=?)"),
    ("due_on", "USING PRIMARY KEY (partition=?)"),
    ("workers_after", "USING PRIMARY KEY (worker_instance_id>?)"),
    ("workers_beyond", "USING PRIMARY KEY (worker_instance_id>?)"),
    ("next_quota_namespace", "USING PRIMARY KEY (namespace>?)"),
    ("quota_rows", "USING PRIMARY KEY (policy_id=? AND name>? AND name<?)"),
    ("schedules_after", "USING PRIMARY KEY (namespace=? AND name>?)"),
    ("due_schedules", "USING COVERING INDEX schedule_look_at (partition=? AND look_at>?)"),
    ("usage_backlog", "USING PRIMARY KEY (namespace=? AND key=? AND value=?)"),
    ("api_keys_after", "USING PRIMARY KEY (key_id>?)"),
    ("feeds", "USING PRIMARY KEY (partition<?)"),
    ("attempts_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("attempts_from", "USING PRIMARY KEY (uuid=? AND partition=? AND idx>?)"),
    ("streams_from", "USING PRIMARY KEY (uuid=? AND partition=? AND attempt>?)"),
    ("frames_from", "USING PRIMARY KEY (uuid=? AND partition=? AND (attempt,seq)>(?,?))"),
    ("frames_of", "USING PRIMARY KEY (uuid=? AND partition=? AND attempt=? AND seq>?)"),
    ("step_heads_of", "USING INDEX step_in_order (uuid=? AND partition=?)"),
    ("step_sizes_after", "USING INDEX step_in_order (uuid=? AND partition=? AND seq>?)"),
    ("steps_to", "USING INDEX step_in_order (uuid=? AND partition=? AND seq>? AND seq<?)"),
    ("leases_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("surplus_leases", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("keys_on", "USING PRIMARY KEY (partition=?)"),
    ("key_queues_on", "USING PRIMARY KEY (partition=?)"),
    ("waitpoints_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("suspend_keys_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("rings", "USING PRIMARY KEY (partition<?)"),
    ("signals_of", "USING INDEX signal_in_order (uuid=? AND partition=?)"),
    ("signals_page", "USING INDEX signal_in_order (uuid=? AND partition=? AND nth>?)"),
    ("signal_keys_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("deliveries_last", "USING PRIMARY KEY (partition=?)"),
    ("deliveries_first", "USING PRIMARY KEY (partition=?)"),
    ("deliveries_from", "USING PRIMARY KEY (partition=? AND (recorded_at,nth)>(?,?))"),
    ("events_last", "USING PRIMARY KEY (partition=?)"),
    ("events_first", "USING PRIMARY KEY (partition=?)"),
    ("events_from", "USING PRIMARY KEY (partition=? AND (recorded_at,nth)>(?,?))"),
    ("edges_into", "USING INDEX edge_in (downstream=?)"),
    ("edges_after", "USING PRIMARY KEY (flow_id=? AND edge_id>?)"),
    ("list_flows", "USING INDEX flow_by_namespace (namespace=? AND state=? AND (created_at,flow_id)<(?,?))"),
    ("flow_events_from", "USING PRIMARY KEY (flow_id=? AND seq>?)"),
    ("flow_keys_of", "USING PRIMARY KEY (flow_id=?)"),
];

/// The indexes that answer each query of several tables: a walk of the first table, and joins by key.
const ANSWERED_FROM_SEVERAL: &[(&str, &[&str])] = &[
    (
        "waiting",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            ITS_EXECUTION,
            ITS_FLOW,
            ITS_SUBMISSION,
        ],
    ),
    (
        "queue",
        &["ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)", ITS_EXECUTION, ITS_SUBMISSION],
    ),
    ("execution_of", &[ITS_EXECUTION, ITS_SUBMISSION]),
    (
        "turns",
        &[
            "turn_queue USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            "turn USING PRIMARY KEY (partition=? AND lane=? AND fair_key=?)",
        ],
    ),
    (
        "keys_ahead",
        &["turn_queue USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND (turn_at,fair_key)<(?,?))"],
    ),
    (
        "depth_ready",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class<?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class>?)",
        ],
    ),
    (
        "waiting_at",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority=?)",
            ITS_EXECUTION,
            ITS_FLOW,
            ITS_SUBMISSION,
        ],
    ),
    (
        "due",
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
        "next_due",
        &[
            "lease USING PRIMARY KEY (partition=?)",
            "due USING PRIMARY KEY (partition=?)",
            "flow USING COVERING INDEX flow_due (partition=? AND due_at>?)",
        ],
    ),
    (
        "depth_in_state",
        &[
            "tag USING PRIMARY KEY (namespace=? AND key=? AND value=?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "walk_label",
        &[
            "tag USING PRIMARY KEY \
             (namespace=? AND key=? AND value=? AND created_at>? AND (created_at,partition,uuid)<(?,?,?))",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "waiting_kinds",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind>?)",
        ],
    ),
    (
        "waiting_priorities",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=?)",
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority<?)",
        ],
    ),
    (
        "schedule_agenda",
        &[
            "schedule USING COVERING INDEX schedule_look_at (partition>?)",
            "schedule USING COVERING INDEX schedule_look_at (partition=? AND look_at>?)",
        ],
    ),
    ("ahead_by_priority", &["ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority>?)"]),
    (
        "ahead_by_age",
        &[
            "ready USING PRIMARY KEY (partition=? AND lane=? AND class=? AND kind=? AND priority=? AND (created_at,uuid)<(?,?))",
        ],
    ),
    (
        "edges_out",
        &[
            "edge USING INDEX edge_out (upstream=? AND edge_id>?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
            "edge_group USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "edges_in",
        &[
            "edge USING INDEX edge_in (downstream=? AND edge_id>?)",
            "execution USING INDEX sqlite_autoindex_execution_1 (uuid=? AND partition=?) LEFT-JOIN",
            ITS_SUBMISSION,
        ],
    ),
    (
        "members_after",
        &[
            "execution USING INDEX execution_in_flow (flow_id=? AND uuid>?)",
            ITS_SUBMISSION,
            "edge_group USING PRIMARY KEY (uuid=? AND partition=?) LEFT-JOIN",
        ],
    ),
    (
        "members_from",
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
    &["executions_on", "flows_on", "lanes_on", "workers_on", "labels_on", "streams_on", "steps_on"];

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
