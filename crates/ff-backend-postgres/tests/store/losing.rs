//! Connections and servers that are lost under load.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_core::backend::Perform;
use ff_core::engine_error::Code;
use tokio::time::{interval, timeout};

use crate::load::{Load, few};
use crate::support::{Disk, Postgres};
use crate::{StoreLocation, findings, work};

const PATIENCE: Duration = Duration::from_secs(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_killed_at_random_lose_nothing() {
    let place = StoreLocation::new();
    let load = Load::new(vec![place.open_with(few()).await, place.open_with(few()).await], 100);
    let client = place.look().await;
    let killing = async {
        let kill = "
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name LIKE 'flowfabric %' AND random() < 0.3";
        let (mut killed, mut often) = (0, interval(Duration::from_millis(30)));
        while killed < 40 {
            often.tick().await;
            killed += client.query(kill, &[]).await.unwrap().len();
        }
    };
    timeout(PATIENCE, async { tokio::join!(killing, load.run()) }).await.unwrap();
    load.check().await;
}

/// The server process is killed, as by a power cut, and restarted with the files on its disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let mut server = Postgres::start(Disk::Waited, &[]);
    let store = ff_backend_postgres::connect(&server.url("flowfabric"), few()).await.unwrap();
    let load = Load::new(vec![store], 3_000);
    let noticed = || load.unanswered.load(Ordering::Relaxed) > 0;
    let killing = async {
        let mut look = interval(Duration::from_millis(5));
        // The server is killed three times, and then again until a call was on its way to the disk.
        for done in (30..3_000).step_by(90) {
            if done > 210 && noticed() {
                break;
            }
            while load.completed() < done {
                look.tick().await;
            }
            let restart = move || {
                server.restart();
                server
            };
            server = tokio::task::spawn_blocking(restart).await.unwrap();
        }
        server
    };
    let (_server, ()) = timeout(PATIENCE, async { tokio::join!(killing, load.run()) }).await.unwrap();
    load.check().await;
    assert!(noticed(), "no caller noticed that the server was killed");
}

/// A commit without an answer may or may not have happened, so its outcome is reported as unknown.
#[tokio::test]
async fn a_commit_whose_answer_is_lost_has_an_unknown_outcome() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let client = place.look().await;
    let at_commit = "
        CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON execution DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION die()";
    client.batch_execute(at_commit).await.unwrap();
    let args = work();
    assert_eq!(store.submit(args.clone()).await.unwrap_err().code(), Code::OutcomeUnknown);
    client.batch_execute("DROP TRIGGER at_commit ON execution").await.unwrap();
    store.submit(args).await.unwrap();
    assert_eq!(findings(&store).await, []);
}
