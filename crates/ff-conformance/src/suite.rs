//! The suite: every promise, by domain and theme, and checking some of them in a world.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::world::{World, ms};

type Promise = fn(World) -> BoxFuture<'static, ()>;

/// Every promise there is, as the build script found them: by domain and theme, in the order they are written. One that it does not find
/// is never used, and the compiler says so.
const PROMISES: &[(&str, Promise)] = include!(concat!(env!("OUT_DIR"), "/promises.rs"));

/// Which promises a world is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    /// Every third promise: for a store that differs from another in its server alone.
    Third,
    /// The first promise of every other theme: for the same code over another store.
    Sample,
    /// The promises whose theme reads or changes several partitions.
    AcrossPartitions,
}

/// Themes that read or change several partitions; the others stay on one, where a cluster is as good as a server.
pub const ACROSS_PARTITIONS: &[&str] = &[
    "event::",
    "execution::acting::",
    "execution::bulk::",
    "execution::listing::",
    "execution::searching::",
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
    /// The names of its promises.
    pub fn names(self) -> Vec<&'static str> {
        self.promises("").into_iter().map(|(name, _)| name).collect()
    }

    /// The promises whose names begin with `prefix`.
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

/// Checks the promises of a scope whose names begin with `prefix`, each in a world of its own, and panics with the names of
/// all that were broken. Not generic over the promises, so that each costs the compiler next to nothing.
pub fn check(scope: Scope, prefix: &str, world: impl AsyncFn() -> World) {
    let (mut broken, promises) = (Vec::new(), scope.promises(prefix));
    let count = promises.len();
    for (name, promise) in promises {
        println!("{name}");
        // A runtime of its own ends with everything a broken promise left running.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let attempt = AssertUnwindSafe(|| runtime.block_on(async { keep(world().await, promise).await }));
        if catch_unwind(attempt).is_err() {
            broken.push(name);
        }
    }
    assert!(broken.is_empty(), "{} of {count} promises were broken: {}", broken.len(), broken.join(", "));
}

/// Checks one promise, and then examines the store it leaves.
async fn keep(world: World, promise: Promise) {
    timeout(ms(60_000), promise(world.clone())).await.expect("something is waited for that never comes");
    world.check_invariants().await;
    world.end().await;
}
