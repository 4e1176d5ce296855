//! The suite: the table of all promises by domain and theme, and the function that checks some of them in a world.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::world::{World, ms};

type Promise = fn(World) -> BoxFuture<'static, ()>;

/// Every promise that the build script found, by domain and theme, in the order of the source. The compiler reports a promise that
/// the script missed as unused.
const PROMISES: &[(&str, Promise)] = include!(concat!(env!("OUT_DIR"), "/promises.rs"));

/// The set of promises that a world is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    /// Every third promise: for a store that differs from another one only in its server.
    Third,
    /// The first promise of every other theme: for the same code over another store.
    Sample,
    /// The promises whose theme reads or changes several partitions.
    AcrossPartitions,
}

/// Themes that read or change several partitions. The others stay on one partition, where a cluster behaves like a server.
pub const ACROSS_PARTITIONS: &[&str] = &[
    "event::",
    "execution::bulk::",
    "execution::listing::",
    "flow::large::",
    "flow::listing::",
    "api_key::",
    "lane::",
    "lease::long_poll::",
    "schedule::defining::",
    "schedule::ticking::",
    "signal::feed::",
    "token::rotating::",
    "worker::",
];

impl Scope {
    /// Returns the names of the promises in this scope.
    pub fn names(self) -> Vec<&'static str> {
        self.promises("").into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the promises of this scope whose names begin with `prefix`.
    fn promises(self, prefix: &str) -> Vec<(&'static str, Promise)> {
        let mut chosen = PROMISES.to_vec();
        let mut theme = ("", 0);
        let mut place = 0;
        chosen.retain(|(name, _)| {
            let of = name.rsplit_once("::").map_or("", |(theme, _)| theme);
            let is_first = of != theme.0;
            if is_first {
                theme = (of, theme.1 + 1);
            }
            place += 1;
            match self {
                Self::All => true,
                Self::Third => place % 3 == 0,
                Self::Sample => is_first && theme.1 % 2 == 0,
                Self::AcrossPartitions => ACROSS_PARTITIONS.iter().any(|across| name.starts_with(across)),
            }
        });
        chosen.retain(|(name, _)| name.starts_with(prefix));
        chosen
    }
}

/// Checks the promises of a scope whose names begin with `prefix`, each in its own world, and panics with the names of all that
/// failed. Promises are function pointers, not generics, so that each costs little compile time.
pub fn check(scope: Scope, prefix: &str, world: impl AsyncFn() -> World) {
    let (mut broken, promises) = (Vec::new(), scope.promises(prefix));
    let count = promises.len();
    for (name, promise) in promises {
        println!("{name}");
        // Each promise has its own runtime, which stops everything that a failed promise left running.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let attempt = AssertUnwindSafe(|| runtime.block_on(async { keep(world().await, promise, limit(name)).await }));
        if catch_unwind(attempt).is_err() {
            broken.push(name);
        }
    }
    assert!(broken.is_empty(), "{} of {count} promises were broken: {}", broken.len(), broken.join(", "));
}

/// Returns the time after which a promise is taken to wait for an event that never comes. Flows of the maximum size take long on
/// a busy machine.
fn limit(name: &str) -> Duration {
    if name.contains("::large::") { ms(240_000) } else { ms(60_000) }
}

/// Checks one promise, and then examines the store it leaves.
async fn keep(world: World, promise: Promise, limit: Duration) {
    timeout(limit, promise(world.clone())).await.expect("something is waited for that never comes");
    world.check_invariants().await;
    world.end().await;
}
