//! The clock of a world.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use ff_engine::Orchestration;

use crate::records::*;

/// A clock that stands still until a test moves it.
#[derive(Clone)]
pub struct WorldClock {
    test_clock: Arc<TestClock>,
    engine_store: Arc<dyn EngineStore>,
}

/// The clock that the store reads.
#[derive(Debug)]
pub struct TestClock(AtomicI64);

/// The start of the next world. Worlds start a year apart, so that a server they share never sees time go back.
static NEXT: AtomicI64 = AtomicI64::new(1_700_000_000_000);
const A_YEAR_MS: i64 = 31_536_000_000;

/// Maximum time that a primary may leave calls unanswered on a machine that is busy with other tests.
const SLOW_PRIMARY: Duration = Duration::from_secs(10);

impl Default for TestClock {
    fn default() -> Self {
        Self(AtomicI64::new(NEXT.fetch_add(A_YEAR_MS, Ordering::SeqCst)))
    }
}

impl Clock for TestClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.0.load(Ordering::SeqCst))
    }
}

impl WorldClock {
    /// Returns the clock of a store that was created with `test_clock`.
    pub fn new(test_clock: Arc<TestClock>, engine_store: Arc<dyn EngineStore>) -> Self {
        Self { test_clock, engine_store }
    }

    /// Returns the current time.
    pub fn now(&self) -> TimestampMs {
        self.test_clock.now()
    }

    /// Moves time forward, and fires everything that becomes due.
    pub async fn advance(&self, by: Duration) {
        self.slip(by);
        self.fire_due().await;
    }

    /// Moves time forward without firing due work.
    pub fn slip(&self, by: Duration) {
        self.test_clock.0.fetch_add(millis(by), Ordering::SeqCst);
    }

    /// Sets the clock back, as an operator might.
    pub fn set_back(&self, by: Duration) {
        self.test_clock.0.fetch_sub(millis(by), Ordering::SeqCst);
    }

    /// Pumps every partition until nothing is due.
    pub async fn fire_due(&self) {
        for partition in 0..self.engine_store.partitions().num_flow_partitions {
            self.fire_due_on(partition).await;
        }
        self.tick().await;
    }

    /// Runs due schedules until none is due.
    async fn tick(&self) {
        let now = self.engine_store.now().await.unwrap();
        let mut answered_at = Instant::now();
        loop {
            let looked = async {
                let agenda = self.engine_store.schedule_agenda().await?;
                let due: Vec<_> = agenda.into_iter().filter(|tick| tick.look_at <= now).collect();
                for tick in &due {
                    let ticked = self.engine_store.look_at_schedules(tick.partition).await?;
                    ticked.failure.map_or(Ok(()), Err)?;
                }
                Ok(due.is_empty())
            };
            match looked.await {
                Ok(true) => return,
                Ok(false) => answered_at = Instant::now(),
                Err(EngineError::Unknown(_)) if answered_at.elapsed() < SLOW_PRIMARY => {}
                Err(error) => panic!("schedules are not looked at: {error}"),
            }
        }
    }

    /// Pumps one partition until nothing is due. A slow primary of a cluster may leave a pump unanswered; the partition is pumped
    /// again, as an engine does.
    pub async fn fire_due_on(&self, partition: u16) {
        let now = self.engine_store.now().await.unwrap();
        let mut answered_at = Instant::now();
        loop {
            match self.engine_store.pump(partition).await {
                Ok(pumped) if pumped.next_due.is_none_or(|due| due > now) => return,
                Ok(_) => answered_at = Instant::now(),
                Err(EngineError::Unknown(_)) if answered_at.elapsed() < SLOW_PRIMARY => {
                    self.engine_store.now().await.unwrap();
                }
                Err(error) => panic!("partition {partition} is not pumped: {error}"),
            }
        }
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap()
}
