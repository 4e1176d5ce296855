//! Loading the library into servers.

use ff_script::{LIBRARY, LibraryClock, LoadError, VERSION, Version, check_library, ensure_library, library};
use redis::cmd;

use crate::wire::Wire;

#[tokio::test]
async fn an_empty_server_is_given_the_library_once() {
    let server = Wire::bare().await;
    check_library(&server, LibraryClock::Server).await.unwrap();
    assert!(server.functions().await.is_empty(), "looking gives nothing");
    for _ in 0..3 {
        ensure_library(&server, LibraryClock::Server).await.unwrap();
    }
    assert_eq!(version(&server).await, format!("{VERSION} server"));
    assert_eq!(loads(&server).await, 1);
}

#[tokio::test]
async fn a_library_that_was_lost_is_given_again() {
    let server = Wire::start(LibraryClock::Server).await;
    server.ask::<String>(cmd("FUNCTION").arg("FLUSH").arg("SYNC")).await;
    ensure_library(&server, LibraryClock::Server).await.unwrap();
    assert_eq!(version(&server).await, format!("{VERSION} server"));
}

#[tokio::test]
async fn an_older_library_is_replaced() {
    let server = Wire::bare().await;
    give(&server, Version { major: 0, minor: 9 }).await;
    check_library(&server, LibraryClock::Server).await.unwrap();
    assert_eq!(version(&server).await, "0.9 server", "looking replaces nothing");
    ensure_library(&server, LibraryClock::Server).await.unwrap();
    assert_eq!(version(&server).await, format!("{VERSION} server"));
}

/// A library accepts the calls of the previous minor version, so an older program works with it and leaves it in place.
#[tokio::test]
async fn a_newer_library_is_never_replaced() {
    let server = Wire::bare().await;
    let newer = Version { minor: VERSION.minor + 1, ..VERSION };
    give(&server, newer).await;
    ensure_library(&server, LibraryClock::Server).await.unwrap();
    assert_eq!(version(&server).await, format!("{newer} server"));
}

#[tokio::test]
async fn a_library_of_a_newer_kind_is_refused_and_left_alone() {
    let server = Wire::bare().await;
    let found = Version { major: VERSION.major + 1, minor: 0 };
    give(&server, found).await;
    for answer in
        [check_library(&server, LibraryClock::Server).await, ensure_library(&server, LibraryClock::Server).await]
    {
        let error = answer.unwrap_err();
        assert_eq!(error, LoadError::TooNew { found });
        let line = error.to_string();
        assert!(line.contains(&found.to_string()) && line.contains(&VERSION.to_string()), "{line}");
        assert!(line.contains("use a newer program"), "{line}");
    }
    assert_eq!(version(&server).await, format!("{found} server"));
}

#[tokio::test]
async fn a_program_does_not_work_with_the_clock_of_another() {
    for (has, expected) in [(LibraryClock::Test, LibraryClock::Server), (LibraryClock::Server, LibraryClock::Test)] {
        let server = Wire::start(has).await;
        for answer in [check_library(&server, expected).await, ensure_library(&server, expected).await] {
            assert_eq!(answer, Err(LoadError::OtherClock { found: has.to_string(), expected }));
        }
        assert_eq!(version(&server).await, format!("{VERSION} {has}"));
    }
}

/// Loads the library into the server under another version.
async fn give(server: &Wire, version: Version) {
    let (own, other) = (format!("version = '{VERSION}'"), format!("version = '{version}'"));
    let text = library(LibraryClock::Server);
    assert_eq!(text.matches(&own).count(), 1);
    server.ask::<String>(cmd("FUNCTION").arg("LOAD").arg(text.replace(&own, &other))).await;
}

/// Returns the version and the clock of the server's library.
async fn version(server: &Wire) -> String {
    let (done, ok, version, clock): (i64, String, String, String) =
        server.ask(cmd("FCALL").arg("ff_version").arg(0)).await;
    assert_eq!((done, ok.as_str()), (1, "OK"));
    let libraries: Vec<redis::Value> = server.ask(cmd("FUNCTION").arg("LIST").arg("LIBRARYNAME").arg(LIBRARY)).await;
    assert_eq!(libraries.len(), 1);
    format!("{version} {clock}")
}

/// Returns the number of times that functions were loaded into a server.
async fn loads(server: &Wire) -> usize {
    let stats: String = server.ask(cmd("INFO").arg("commandstats")).await;
    let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_function|load:calls="));
    line.and_then(|line| line.split(',').next()).unwrap().parse().unwrap()
}
