//! Opening a store: which files are accepted, and one process at a time.

use std::fs;
use std::process::Command;

use ff_backend_sqlite::{OpenError, SqliteOptions};
use ff_core::backend::Perform;
use ff_core::partition::PartitionConfig;

use crate::{StoreLocation, options};

fn with(partitions: PartitionConfig) -> SqliteOptions {
    SqliteOptions { partitions: Some(partitions), ..options() }
}

fn few() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 4, num_budget_partitions: 2, num_quota_partitions: 1 }
}

fn refusal(place: &StoreLocation, options: SqliteOptions) -> OpenError {
    match ff_backend_sqlite::open(&place.path(), options) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

#[test]
fn a_file_has_one_owner() {
    let place = StoreLocation::new();
    let store = place.open();
    let error = refusal(&place, options());
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().ends_with("is in use by another process; connect to its server over http:// instead"));
    drop(store);
    place.open();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_is_that_file() {
    let place = StoreLocation::new();
    let _store = place.open();
    let link = place.0.path().join("link.db");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    assert!(matches!(ff_backend_sqlite::open(&link, options()), Err(OpenError::InUse { .. })));
}

#[cfg(unix)]
#[test]
fn a_new_database_and_its_side_files_are_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let place = StoreLocation::new();
    let _store = place.open();
    for beside in ["", "-wal", "-lock"] {
        let file = format!("{}{beside}", place.path().display());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
}

/// The other process is this test again; an environment variable names its file.
#[test]
fn a_second_process_is_refused_while_the_file_is_in_use() {
    const FILE: &str = "FF_TRY_TO_OPEN";
    if let Some(path) = std::env::var_os(FILE) {
        let opened = ff_backend_sqlite::open(path.as_ref(), options());
        println!("opening says: {}", opened.err().map_or("opened".into(), |error| error.to_string()));
        return;
    }
    let place = StoreLocation::new();
    let try_to_open = || {
        let this = std::env::current_exe().unwrap();
        let name = "file::opening::a_second_process_is_refused_while_the_file_is_in_use";
        let run = Command::new(this).args(["--exact", name, "--nocapture"]).env(FILE, place.path()).output().unwrap();
        String::from_utf8(run.stdout).unwrap()
    };
    let store = place.open();
    let output = try_to_open();
    assert!(output.contains("is in use by another process"), "{output}");
    drop(store);
    let output = try_to_open();
    assert!(output.contains("opening says: opened"), "{output}");
}

#[test]
fn partition_counts_are_those_the_file_was_made_with() {
    let place = StoreLocation::new();
    drop(ff_backend_sqlite::open(&place.path(), with(few())).unwrap());
    assert_eq!(place.open().partitions(), few(), "not said");
    let other = PartitionConfig { num_flow_partitions: 8, ..few() };
    let error = refusal(&place, with(other));
    assert!(
        matches!(error, OpenError::Partitions { stored, requested } if stored == few() && requested == other),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.contains("4 flow, 2 budget and 1 quota") && text.contains("8 flow, 2 budget and 1 quota"), "{text}");
    drop(ff_backend_sqlite::open(&place.path(), with(few())).unwrap());
}

#[test]
fn a_store_without_partitions_is_refused() {
    let place = StoreLocation::new();
    let none = PartitionConfig { num_flow_partitions: 0, ..few() };
    assert!(matches!(refusal(&place, with(none)), OpenError::NoPartitions { .. }));
    assert!(!place.path().exists());
}

#[test]
fn a_schema_that_was_never_released_is_refused_and_left_alone() {
    let place = StoreLocation::new();
    drop(place.open());
    place.look().execute("UPDATE meta SET value = 34 WHERE key = 'schema_version'", []).unwrap();
    let error = refusal(&place, options());
    assert!(matches!(error, OpenError::Unreleased { found: 34 }), "{error}");
    let version = "SELECT value FROM meta WHERE key = 'schema_version'";
    assert_eq!(place.look().query_row(version, [], |row| row.get::<_, i64>(0)), Ok(34));
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let place = StoreLocation::new();
    drop(place.open());
    place.look().execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'", []).unwrap();
    let error = refusal(&place, options());
    assert!(matches!(error, OpenError::TooNew { found: 99, known: 54 }), "{error}");
    let version = "SELECT value FROM meta WHERE key = 'schema_version'";
    assert_eq!(place.look().query_row(version, [], |row| row.get::<_, i64>(0)), Ok(99));
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    for (make, why) in [
        (
            (|place| fs::write(place.path(), "Dear diary, ").unwrap()) as fn(&StoreLocation),
            "it is not a SQLite database",
        ),
        (|place| place.look().execute_batch("CREATE TABLE diary (entry TEXT)").unwrap(), "of something else"),
    ] {
        let place = StoreLocation::new();
        make(&place);
        let before = fs::read(place.path()).unwrap();
        let error = refusal(&place, options());
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(fs::read(place.path()).unwrap(), before);
        assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1, "nothing was put beside it");
    }
}

#[test]
fn an_empty_file_is_a_new_store() {
    let place = StoreLocation::new();
    fs::write(place.path(), "").unwrap();
    assert_eq!(place.open().partitions(), PartitionConfig::default());
}

#[test]
fn a_missing_directory_is_named() {
    let place = StoreLocation::new();
    let missing = place.0.path().join("not-there");
    let error = ff_backend_sqlite::open(&missing.join("work.db"), options()).err().unwrap();
    assert!(matches!(&error, OpenError::NoDirectory { path } if *path == missing), "{error}");
    assert_eq!(
        error.to_string(),
        format!("path: the directory {} does not exist, must be one that does", missing.display())
    );
}

#[test]
fn a_directory_is_not_a_store() {
    let place = StoreLocation::new();
    fs::create_dir(place.path()).unwrap();
    assert!(matches!(refusal(&place, options()), OpenError::Io { .. }));
}
