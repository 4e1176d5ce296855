//! Random walks on a store and on the model: the same answers, the same contents, the same indexes.
//!
//! `FF_DIFF_STEPS` says how many steps in all, `FF_DIFF_SEED` where to begin.

use std::sync::Arc;

use ff_core::clock::Clock;
use ff_core::dice::{Dice, Nonce, SystemDice};
use ff_core::partition::PartitionConfig;
use ff_testing::differential::{
    Coverage, Make, Making, memory, postgres, redis, shared_postgres, sqlite, valkey, walk,
};
use ff_testing::number;
use futures_util::stream::{self, StreamExt as _};

/// Steps of one walk: enough for executions to be retried, reclaimed and replayed, few enough to be shortened quickly.
const WALK: usize = 600;

/// Walks at once: one asks while another waits for its server.
const AT_ONCE: usize = 2;

#[tokio::test]
async fn sqlite_does_what_the_model_does() {
    walks(sqlite).await;
}

#[tokio::test]
async fn postgres_does_what_the_model_does() {
    let _server = shared_postgres();
    walks(postgres).await;
}

#[tokio::test]
async fn valkey_does_what_the_model_does() {
    walks(valkey).await;
}

/// Too long for every change.
mod full {
    use super::*;

    /// The functions are those of Valkey.
    #[tokio::test]
    async fn redis_does_what_the_model_does() {
        walks(redis).await;
    }
}

#[tokio::test]
async fn memory_does_what_the_model_does() {
    walks(memory).await;
}

/// The comparison itself can fail, and what it prints is short.
#[tokio::test]
async fn a_store_that_differs_is_shown_by_a_short_script() {
    let panic = tokio::spawn(walk(with_dice_of_its_own, 1, WALK)).await.unwrap_err().into_panic();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(said.contains("seed 1"), "{said}");
    let script: Vec<_> = said.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(script.len(), 2, "{said}");
    assert!(script[0].contains("Submit") && script[1].contains("Claim"), "{said}");
}

async fn walks(make: Make) {
    let (steps, first) = (number("FF_DIFF_STEPS", 6_000), number("FF_DIFF_SEED", 1));
    let walks = steps.div_ceil(WALK);
    let mut coverage = Coverage::default();
    let all = (first..first + walks).map(|seed| walk(make, seed as u64, WALK));
    let mut side_by_side = stream::iter(all).buffer_unordered(AT_ONCE);
    while let Some(covered) = side_by_side.next().await {
        coverage.add(&covered);
    }
    println!("{walks} walks of {WALK} steps\n{coverage}");
    // All rooms share the steps, so that the rarest of what happens is rare.
    coverage.assert_at_least(walks / 8);
}

/// Hands out other leases than the model.
fn with_dice_of_its_own(partitions: PartitionConfig, clock: Arc<dyn Clock>, dice: Arc<dyn Dice>) -> Making {
    memory(partitions, clock, Arc::new(OtherNonces(dice)))
}

/// The walk's secret, and chance of its own.
struct OtherNonces(Arc<dyn Dice>);

impl Dice for OtherNonces {
    fn nonce(&self) -> Nonce {
        SystemDice.nonce()
    }

    fn secret(&self) -> [u8; 32] {
        self.0.secret()
    }
}
