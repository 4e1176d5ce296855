//! A store whose process or machine failed in the middle of a write.

use std::fs;

use ff_core::backend::Perform;
use ff_core::engine_error::Code;
use ff_core::types::ExecutionId;

use crate::{StoreLocation, beside, findings, work};

const SUBMITTED: usize = 30;

/// Returns a store as the disk has it when its process is killed: everything since it was opened is in the log.
async fn killed(damage: impl Fn(&mut Vec<u8>)) -> (StoreLocation, Vec<ExecutionId>) {
    let living = StoreLocation::new();
    let store = living.open();
    let mut acknowledged = Vec::new();
    for _ in 0..SUBMITTED {
        acknowledged.push(store.submit(work()).await.unwrap().execution_id);
    }
    let killed = StoreLocation::new();
    fs::copy(living.path(), killed.path()).unwrap();
    let mut log = fs::read(beside(&living.path(), "-wal")).unwrap();
    damage(&mut log);
    fs::write(beside(&killed.path(), "-wal"), log).unwrap();
    (killed, acknowledged)
}

/// Returns the number of acknowledged submissions that are there, after checking that they are the first ones.
async fn first_ones_there(place: &StoreLocation, acknowledged: &[ExecutionId]) -> usize {
    let store = place.open();
    let mut there = Vec::new();
    for id in acknowledged {
        match store.describe(id).await {
            Ok(_) => there.push(true),
            Err(error) => {
                assert_eq!(error.code(), Code::ExecutionNotFound);
                there.push(false);
            }
        }
    }
    assert!(
        there.is_sorted_by(|earlier, later| earlier >= later),
        "one is missing before one that is there: {there:?}"
    );
    assert_eq!(findings(&store).await, []);
    store.submit(work()).await.unwrap();
    there.iter().filter(|there| **there).count()
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let (place, acknowledged) = killed(|_| {}).await;
    assert_eq!(first_ones_there(&place, &acknowledged).await, SUBMITTED);
}

#[tokio::test]
async fn a_log_whose_end_is_torn_off_is_read_up_to_there() {
    for torn in [1, 100, 4_096, 20_000] {
        let (place, acknowledged) = killed(|log| log.truncate(log.len() - torn)).await;
        let there = first_ones_there(&place, &acknowledged).await;
        assert!((1..SUBMITTED).contains(&there), "{there} after {torn} bytes were torn off");
    }
}

#[tokio::test]
async fn a_log_whose_end_is_garbled_is_read_up_to_there() {
    for garbled in [1, 100, 20_000] {
        let scramble = |log: &mut Vec<u8>| {
            let from = log.len() - garbled;
            log[from..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        };
        let (place, acknowledged) = killed(scramble).await;
        let there = first_ones_there(&place, &acknowledged).await;
        assert!((1..SUBMITTED).contains(&there), "{there} after {garbled} bytes were garbled");
    }
}
