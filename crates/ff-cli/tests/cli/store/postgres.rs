//! A server in front of Postgres with migrated tables, and the one-line error for a database that cannot be used.

use crate::postgres_server::{Disk, Postgres};
use crate::world::{Process, run_in};

#[test]
fn work_is_served_from_postgres_and_survives_the_server_in_front_of_it() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Postgres::start(Disk::Waited, &[]));
    let store = database.url("flowfabric");
    let ran = |args: &[&str]| run_in(folder.path(), args).ok();
    assert!(ran(&["migrate", "--store", &store]).ends_with(" now, and had 0"));
    assert!(ran(&["migrate", "--store", &store]).ends_with(" already"));

    let first = Process::serve(folder.path(), &store);
    let submit = ["submit", "later", "--payload", "[1,2]", "--server", &first.url()];
    let id = ran(&submit);
    let keyed = ran(&[&submit[..], &["--idempotency-key", "order-17"]].concat());
    assert!(first.stop().success());
    let second = Process::serve(folder.path(), &store);
    let address = second.url();
    for id in [&id, &keyed] {
        let uuid = id.split_once("}:").unwrap().1;
        assert_eq!(ran(&["get", id, "--payload", "--server", &address]), "[1,2]");
        assert!(ran(&["get", uuid, "--server", &address]).contains(id.as_str()));
    }
    let unknown = ["get", "00000000-0000-7000-8000-000000000000", "--server", &address];
    run_in(folder.path(), &unknown).refused(1, "execution_not_found");
    assert!(ran(&["doctor", "--server", &address]).contains("2 executions"));
    let direct = ran(&["doctor", "--store", &store]);
    assert!(direct.ends_with("nothing is wrong"), "{direct}");
}

#[test]
fn an_unusable_database_is_reported_in_one_line() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Postgres::quick());
    let here = database.url("flowfabric");
    let nobody = here.replace("postgres@", "nobody:guess@");
    let private = format!("{here}&sslmode=require");
    for (store, why) in [
        ("postgres://me:guess@127.0.0.1:1/jobs", "cannot reach 127.0.0.1:1"),
        (&nobody, "refuses the connection: role \"nobody\" does not exist"),
        (&here.replace("/postgres?", "/jobs?"), "refuses the connection: database \"jobs\" does not exist"),
        (&private, "server does not support TLS"),
    ] {
        let ran = run_in(folder.path(), &["server", "--store", store, "--listen", "127.0.0.1:0"]);
        assert!(!ran.stderr.contains("guess") && ran.stderr.trim_end().lines().count() == 1, "{}", ran.stderr);
        ran.refused(1, why);
    }
    let doctor = run_in(folder.path(), &["doctor", "--store", &here]);
    doctor.refused(1, "the schema flowfabric holds no store: `ff migrate` makes one");
    let file = run_in(folder.path(), &["migrate", "--store", "sqlite:ff.db"]);
    file.refused(2, "--store: must be postgres://");
}
