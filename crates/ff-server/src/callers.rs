//! How often a caller that shows tokens may ask, and how often it may be wrong.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ff_core::key::{ApiKey, Role};
use ff_core::types::Namespace;

use crate::problem::Problem;
use crate::rate::Asker;

/// What one request costs of a caller's time: ten thousand may be asked in a second.
const ASKED: Duration = Duration::from_micros(100);

/// What a wrong token costs: ten may be shown in a second.
const WRONG: Duration = Duration::from_millis(100);

/// How much of its time a caller may use ahead: a hundred wrong tokens at once, and no more.
const AHEAD: Duration = Duration::from_secs(10);

/// How many callers are told apart. The rest share one allowance, so that inventing addresses costs no memory.
const KNOWN: usize = 10_000;

/// How often callers that have all their allowance again are forgotten, when there are too many to tell apart.
const FORGET: Duration = Duration::from_secs(1);

/// The allowances of all callers of a server.
#[derive(Default)]
pub(crate) struct Callers(Mutex<Spent>);

/// Until when each caller has spent its time.
#[derive(Default)]
struct Spent {
    until: HashMap<IpAddr, Instant>,
    forgot: Option<Instant>,
}

impl Callers {
    /// Takes the cost of one request off a caller's allowance, or says how long to wait until there is some.
    fn ask(&self, caller: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut spent = self.spent();
        let until = spent.of(caller, now);
        let ahead = until.saturating_duration_since(now);
        if ahead >= AHEAD {
            return Err(ahead.saturating_sub(AHEAD) + WRONG);
        }
        *until = now + ahead + ASKED;
        Ok(())
    }

    /// Says how long to wait, where a caller was wrong too often.
    fn held_back(&self, caller: IpAddr, now: Instant) -> Result<(), Duration> {
        let ahead = self.spent().of(caller, now).saturating_duration_since(now);
        if ahead >= AHEAD { Err(ahead.saturating_sub(AHEAD) + WRONG) } else { Ok(()) }
    }

    /// Takes the cost of a wrong token off a caller's allowance.
    fn was_wrong(&self, caller: IpAddr, now: Instant) {
        let mut spent = self.spent();
        let until = spent.of(caller, now);
        *until = (*until).max(now) + WRONG;
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spent {
    /// A caller's own entry, or the one of all that are not told apart.
    fn of(&mut self, caller: IpAddr, now: Instant) -> &mut Instant {
        let caller = network(caller);
        let is_full = |spent: &Self| spent.until.len() >= KNOWN && !spent.until.contains_key(&caller);
        if is_full(self) && self.forgot.is_none_or(|at| now.saturating_duration_since(at) >= FORGET) {
            self.forgot = Some(now);
            self.until.retain(|_, until| *until > now);
        }
        let name = if is_full(self) { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { caller };
        self.until.entry(name).or_insert(now)
    }
}

/// What a caller is told apart by: its address; of IPv6 the network, which one caller has to itself.
fn network(caller: IpAddr) -> IpAddr {
    match caller.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

/// Who is asking.
#[derive(Clone)]
pub(crate) struct Caller {
    address: IpAddr,
    callers: Arc<Callers>,
    /// The key it has shown, where the server asks for keys.
    key: Option<Arc<ApiKey>>,
}

impl Caller {
    pub(crate) fn new(address: IpAddr, callers: Arc<Callers>) -> Self {
        Self { address, callers, key: None }
    }

    /// The same caller, known by its key.
    pub(crate) fn known_by(&self, key: Arc<ApiKey>) -> Self {
        Self { key: Some(key), ..self.clone() }
    }

    /// Whom its requests are counted to.
    pub(crate) fn as_asker(&self) -> Asker {
        match &self.key {
            Some(key) => Asker::Key(key.info.key_id.clone()),
            None => Asker::Address(network(self.address)),
        }
    }

    /// The namespace it is confined to, if it is.
    pub(crate) fn tenant(&self) -> Option<&Namespace> {
        self.key.as_ref().and_then(|key| key.info.namespace.as_ref())
    }

    /// Whether it has shown a key that is for this.
    pub(crate) fn has_shown(&self, role: Role) -> bool {
        self.key.as_ref().is_some_and(|key| key.info.may(role))
    }

    /// Says how long to wait, where a caller was wrong too often.
    pub(crate) fn held_back(&self) -> Result<(), Duration> {
        self.callers.held_back(self.address, Instant::now())
    }

    /// Counts a request, or says how long to wait before the next.
    pub(crate) fn ask(&self) -> Result<(), Duration> {
        self.callers.ask(self.address, Instant::now())
    }

    /// Counts a wrong token, or a wrong key.
    pub(crate) fn was_wrong(&self) {
        self.callers.was_wrong(self.address, Instant::now());
    }
}

/// Where the request comes from, and by which key.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{} key={}", self.address, key.info.key_id),
            None => write!(f, "{}", self.address),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Somebody of whom nothing is known.
impl Default for Caller {
    fn default() -> Self {
        Self::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), Arc::default())
    }
}

/// A caller whose request was counted before anything of it was read.
pub(crate) struct Counted(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Counted {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(caller) = Caller::from_request_parts(parts, state).await;
        caller.ask().map_err(Problem::too_often)?;
        Ok(Self(caller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn a_caller_that_guesses_is_held_back_and_others_are_not() {
        let (callers, now) = (Callers::default(), Instant::now());
        let mut guesses = 0;
        while callers.ask(v4(1), now).is_ok() {
            callers.was_wrong(v4(1), now);
            guesses += 1;
        }
        assert_eq!(guesses, 100);
        assert!(callers.ask(v4(1), now).unwrap_err() >= WRONG);
        assert_eq!(callers.ask(v4(2), now), Ok(()));
        let later = now + Duration::from_secs(1);
        let more = (0..20).filter(|_| callers.ask(v4(1), later).map(|()| callers.was_wrong(v4(1), later)).is_ok());
        assert!((9..=11).contains(&more.count()));
        assert_eq!(callers.ask(v4(1), now + Duration::from_secs(60)), Ok(()));
    }

    #[test]
    fn a_caller_that_is_right_may_ask_often() {
        let (callers, now) = (Callers::default(), Instant::now());
        assert!((0..50_000).all(|_| callers.ask(v4(1), now).is_ok()));
    }

    #[test]
    fn addresses_of_one_network_are_one_caller() {
        let (callers, now) = (Callers::default(), Instant::now());
        let v6 = |text: &str| text.parse::<IpAddr>().unwrap();
        (0..200).for_each(|_| callers.was_wrong(v6("2001:db8::1"), now));
        assert!(callers.ask(v6("2001:db8::2"), now).is_err());
        assert!(callers.ask(v6("2001:db8:1::1"), now).is_ok());
    }

    #[test]
    fn inventing_addresses_costs_no_memory() {
        let (callers, now) = (Callers::default(), Instant::now());
        let many = |nth: u32| IpAddr::V4(Ipv4Addr::from_bits(nth + 1));
        (0..30_000).for_each(|nth| callers.was_wrong(many(nth), now));
        assert!(callers.spent().until.len() <= KNOWN + 1);
        assert!(callers.ask(many(40_000), now).is_err(), "whoever comes late shares what is left");
        assert!(callers.ask(many(40_000), now + Duration::from_secs(3_600)).is_ok());
    }
}
