//! The suite: every promise there is, by domain and theme, and what it takes to check some of them in a world.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::world::{World, ms};

/// Calls a macro with the promises of every domain: `one_test_per_theme` or `one_test_per_domain`.
#[macro_export]
macro_rules! every_domain {
    ($make:ident) => {
        $crate::execution_promises! { tests => $crate::$make }
        $crate::lease_promises! { tests => $crate::$make }
        $crate::lane_promises! { tests => $crate::$make }
        $crate::worker_promises! { tests => $crate::$make }
        $crate::api_key_promises! { tests => $crate::$make }
        $crate::event_promises! { tests => $crate::$make }
        $crate::flow_promises! { tests => $crate::$make }
        $crate::suspension_promises! { tests => $crate::$make }
        $crate::signal_promises! { tests => $crate::$make }
        $crate::stream_promises! { tests => $crate::$make }
        $crate::token_promises! { tests => $crate::$make }
    };
}

/// A test per theme, which calls the surrounding module's `check` with the beginning of its promises' names.
#[macro_export]
macro_rules! one_test_per_theme {
    (tests: $($domain:ident { $($theme:ident,)* })*) => {$(
        mod $domain {$(
            #[test]
            fn $theme() {
                super::check(concat!(stringify!($domain), "::", stringify!($theme), "::"));
            }
        )*}
    )*};
}

/// A test per domain, for worlds whose servers take long to start.
#[macro_export]
macro_rules! one_test_per_domain {
    (tests: $($domain:ident { $($rest:tt)* })*) => {$(
        #[test]
        fn $domain() {
            check(concat!(stringify!($domain), "::"));
        }
    )*};
}

/// Lists the promises of a theme, in the file that makes them. One that is written and not listed is never used, which the compiler
/// tells.
macro_rules! promises {
    ($($promise:ident,)*) => {
        pub(crate) const PROMISES: &[(&str, $crate::suite::Promise)] =
            &[$((concat!(module_path!(), "::", stringify!($promise)), |world| Box::pin($promise(world)))),*];
    };
}
pub(crate) use promises;

macro_rules! themes {
    (table: $($domain:ident { $($theme:ident,)* })*) => {
        &[$($(crate::$domain::$theme::PROMISES,)*)*]
    };
}

pub(crate) type Promise = fn(World) -> BoxFuture<'static, ()>;

/// Every promise there is. Each theme lists its own.
const DOMAINS: &[&[&[(&str, Promise)]]] = &[
    crate::execution_promises! { table => themes },
    crate::lease_promises! { table => themes },
    crate::lane_promises! { table => themes },
    crate::worker_promises! { table => themes },
    crate::api_key_promises! { table => themes },
    crate::event_promises! { table => themes },
    crate::flow_promises! { table => themes },
    crate::suspension_promises! { table => themes },
    crate::signal_promises! { table => themes },
    crate::stream_promises! { table => themes },
    crate::token_promises! { table => themes },
];

/// Which promises a world is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    /// Every third promise: for a store that differs from another in its server alone.
    Third,
    /// The first promise of every other theme: for what is the same code over another store.
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
        let themes = DOMAINS.iter().copied().flatten().copied();
        let mut chosen: Vec<_> = themes.flatten().map(|(name, promise)| (short(name), *promise)).collect();
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

/// The name of a promise by domain and theme.
fn short(name: &'static str) -> &'static str {
    name.split_once("::").map_or(name, |(_, within)| within)
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
        let kept = AssertUnwindSafe(|| runtime.block_on(async { keep(world().await, promise).await }));
        if catch_unwind(kept).is_err() {
            broken.push(name);
        }
    }
    assert!(broken.is_empty(), "{} of {count} promises were broken: {}", broken.len(), broken.join(", "));
}

/// Checks one promise, and then examines what it left behind.
async fn keep(world: World, promise: Promise) {
    timeout(ms(60_000), promise(world.clone())).await.expect("something is waited for that never comes");
    world.check_invariants().await;
    world.end().await;
}
