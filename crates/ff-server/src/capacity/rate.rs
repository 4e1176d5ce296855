//! The request rate limit per caller.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff_core::types::KeyId;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Number of requests after which callers with a full allowance are removed from memory.
const FORGET: u32 = 10_000;

/// The unit of rate limits: an API key, or an address without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RateKey {
    Key(KeyId),
    Address(IpAddr),
}

/// The allowances of all callers.
pub(crate) struct Rate {
    callers: DefaultKeyedRateLimiter<RateKey>,
    clock: DefaultClock,
    requests: AtomicU32,
}

impl Rate {
    /// Creates a limiter for this many requests per second, and as many in a burst.
    pub(crate) fn of(each_second: NonZeroU32) -> Self {
        let callers = RateLimiter::keyed(Quota::per_second(each_second));
        Self { callers, clock: DefaultClock::default(), requests: AtomicU32::new(0) }
    }

    /// Counts a request, or returns how long to wait before the next one.
    pub(crate) fn ask(&self, who: &RateKey) -> Result<(), Duration> {
        if self.requests.fetch_add(1, Ordering::Relaxed) % FORGET == FORGET - 1 {
            self.callers.retain_recent();
        }
        self.callers.check_key(who).map_err(|refused| refused.wait_time_from(self.clock.now()))
    }
}

/// Returns the address that identifies a caller. For IPv6 this is the /64 network, which belongs to one caller.
pub(crate) fn network(caller: IpAddr) -> IpAddr {
    match caller.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_its_own_allowance() {
        let rate = Rate::of(NonZeroU32::new(3).unwrap());
        let (one, other) = (RateKey::Key(KeyId::parse("a1").unwrap()), RateKey::Key(KeyId::parse("a2").unwrap()));
        assert!((0..3).all(|_| rate.ask(&one).is_ok()));
        let wait = rate.ask(&one).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(rate.ask(&other), Ok(()));
    }

    #[test]
    fn callers_that_are_gone_cost_no_memory() {
        let rate = Rate::of(NonZeroU32::new(1_000_000).unwrap());
        for nth in 0..100_000 {
            rate.ask(&RateKey::Address(IpAddr::V4(std::net::Ipv4Addr::from_bits(nth)))).unwrap();
        }
        assert!(rate.callers.len() <= 2 * FORGET as usize, "{}", rate.callers.len());
    }
}
