//! No query grows with what waits or with what is finished: each is answered from its index, in its index's order.

use ff_backend_sql::QUERIES;

use crate::Place;

/// Which index answers which query.
const ANSWERED_FROM: &[(&str, &str)] = &[
    ("waiting", "USING INDEX execution_waiting (partition=? AND lane=?)"),
    ("waiting_of_kind", "USING INDEX execution_waiting_of_kind (partition=? AND lane=? AND kind=?)"),
    ("due", "USING INDEX execution_due (partition=? AND due_at>?)"),
    ("next_due", "USING COVERING INDEX execution_due (partition=? AND due_at>?)"),
    ("next_ready", "USING COVERING INDEX execution_waiting_of_kind (partition=? AND (lane,kind)>(?,?))"),
    (
        "list_by_namespace",
        "USING INDEX execution_by_namespace (namespace=? AND state=? AND (created_at,partition,uuid)<(?,?,?))",
    ),
    ("list_by_lane", "USING INDEX execution_by_lane (lane=? AND state=? AND (created_at,partition,uuid)<(?,?,?))"),
    ("attempts_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("leases_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("surplus_leases", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("keys_on", "USING PRIMARY KEY (partition=?)"),
    ("waitpoints_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("suspend_keys_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("rings", "USING PRIMARY KEY (partition<?)"),
    ("signals_of", "USING INDEX signal_in_order (uuid=? AND partition=?)"),
    ("signals_page", "USING INDEX signal_in_order (uuid=? AND partition=? AND nth>?)"),
    ("signal_keys_of", "USING PRIMARY KEY (uuid=? AND partition=?)"),
    ("feed_last", "USING PRIMARY KEY (partition=?)"),
    ("feed_first", "USING PRIMARY KEY (partition=?)"),
    ("feed_after", "USING PRIMARY KEY (partition=? AND (told_at,nth)>(?,?))"),
];

/// Asked only by the doctor, which reads everything anyway.
const READS_EVERYTHING: &[&str] = &["executions_on"];

fn plan(place: &Place, sql: &str) -> Vec<String> {
    let sqlite = place.look();
    let mut statement = sqlite.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let parameters = vec![0; statement.parameter_count()];
    let steps = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get("detail")).unwrap();
    steps.map(Result::unwrap).collect()
}

#[test]
fn every_query_is_answered_from_its_index() {
    let place = Place::new();
    drop(place.open());
    for (name, sql) in QUERIES {
        let plan = plan(&place, sql);
        if READS_EVERYTHING.contains(name) {
            assert!(plan.iter().all(|step| step.contains("COVERING INDEX")), "{name} reads whole rows: {plan:?}");
            continue;
        }
        let (_, index) = ANSWERED_FROM.iter().find(|(of, _)| of == name).unwrap_or_else(|| panic!("{name} is new"));
        let [step] = &plan[..] else { panic!("{name} takes several steps: {plan:?}") };
        assert!(step.starts_with("SEARCH ") && step.ends_with(index), "{name}: {step}");
    }
}

/// Would the test above notice? These are the same questions without their indexes.
#[test]
fn a_query_without_an_index_looks_different() {
    let place = Place::new();
    drop(place.open());
    let scan = plan(&place, "SELECT uuid FROM execution WHERE holder = $1");
    assert!(scan[0].starts_with("SCAN "), "{scan:?}");
    let sort = plan(&place, "SELECT uuid FROM execution WHERE namespace = $1 ORDER BY changed_at");
    assert!(sort.iter().any(|step| step.contains("TEMP B-TREE")), "{sort:?}");
}
