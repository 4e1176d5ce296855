//! Callers, and their allowances for open requests and for wrong tokens and keys.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ff_core::api_key::{ApiKey, KeyInfo, Role};
use ff_core::types::{KeyId, Namespace};

use crate::capacity::rate::{RateKey, network};
use crate::listener::connections::Connection;
use crate::response::problem::Problem;

/// Cost of one request in a caller's allowance: ten thousand per second.
const ASKED: Duration = Duration::from_micros(100);

/// Cost of a wrong token or key: ten per second.
const WRONG: Duration = Duration::from_millis(100);

/// Maximum allowance a caller may use ahead: a hundred wrong tokens at once. Requests beyond it are refused and not charged, so
/// a caller that stops sending wrong tokens waits only a moment, however many it sent.
const AHEAD: Duration = Duration::from_secs(10);

/// Maximum number of callers with an allowance of their own. The rest share one, so that invented addresses cost no memory.
const KNOWN: usize = 10_000;

/// Minimum time between two removals of callers with a full allowance, once the map is full.
const FORGET: Duration = Duration::from_secs(1);

/// An address that sent a wrong credential, and the key id it named, if any. Keys behind one address are charged separately.
type FailureSource = (IpAddr, Option<KeyId>);

/// The allowances of all callers of a server.
#[derive(Default)]
pub(crate) struct Callers(Mutex<TimeBudget>);

/// The time up to which each caller has used its allowance.
#[derive(Default)]
struct TimeBudget {
    until: HashMap<FailureSource, Instant>,
    forgot: Option<Instant>,
}

impl Callers {
    /// Charges a caller for one request, or returns how long it must wait.
    fn ask(&self, caller: IpAddr, now: Instant) -> Result<(), Duration> {
        self.charge(&(caller, None), ASKED, now)
    }

    /// Charges a caller for a wrong token or key, or returns how long it must wait.
    fn was_wrong(&self, debtor: &FailureSource, now: Instant) -> Result<(), Duration> {
        self.charge(debtor, WRONG, now)
    }

    fn charge(&self, debtor: &FailureSource, cost: Duration, now: Instant) -> Result<(), Duration> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until = spent.of(debtor, now);
        let ahead = until.saturating_duration_since(now);
        if ahead >= AHEAD {
            return Err(ahead.saturating_sub(AHEAD) + WRONG);
        }
        *until = now + ahead + cost;
        Ok(())
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).until.len()
    }
}

impl TimeBudget {
    /// Returns a caller's own entry, or the shared one.
    fn of(&mut self, (address, key): &FailureSource, now: Instant) -> &mut Instant {
        let debtor = (network(*address), key.clone());
        let is_full = |spent: &Self| spent.until.len() >= KNOWN && !spent.until.contains_key(&debtor);
        if is_full(self) && self.forgot.is_none_or(|at| now.saturating_duration_since(at) >= FORGET) {
            self.forgot = Some(now);
            self.until.retain(|_, until| *until > now);
        }
        let name = if is_full(self) { (IpAddr::V4(Ipv4Addr::UNSPECIFIED), None) } else { debtor };
        self.until.entry(name).or_insert(now)
    }
}

/// The sender of a request.
#[derive(Clone)]
pub(crate) struct Caller {
    address: IpAddr,
    callers: Arc<Callers>,
    /// The connection of the request; `None` in tests that call a handler.
    connection: Option<Arc<Connection>>,
    /// The caller's API key, if the server requires keys.
    key: Option<Arc<ApiKey>>,
}

impl Caller {
    pub(crate) fn new(address: IpAddr, callers: Arc<Callers>) -> Self {
        Self { address, callers, connection: None, key: None }
    }

    /// Returns the same caller with its connection.
    pub(crate) fn over(self, connection: Arc<Connection>) -> Self {
        Self { connection: Some(connection), ..self }
    }

    /// Waits until the connection must close to make room for another.
    pub(crate) async fn connection_closed(&self) {
        match &self.connection {
            Some(connection) => connection.closed().await,
            None => std::future::pending().await,
        }
    }

    /// Marks the caller's connection as authenticated, so that it stays open at the connection limit. The caller has sent a
    /// valid key or token, or needs none.
    pub(crate) fn prove_connection(&self) {
        if let Some(connection) = &self.connection {
            connection.prove();
        }
    }

    /// Returns the same caller, identified by its key.
    pub(crate) fn known_by(&self, key: Arc<ApiKey>) -> Self {
        Self { key: Some(key), ..self.clone() }
    }

    /// Returns the key or address that the caller's requests are counted against.
    pub(crate) fn as_asker(&self) -> RateKey {
        match &self.key {
            Some(key) => RateKey::Key(key.info.key_id.clone()),
            None => RateKey::Address(network(self.address)),
        }
    }

    /// Returns the namespace that the caller is confined to, if any.
    pub(crate) fn tenant(&self) -> Option<&Namespace> {
        self.key.as_ref().and_then(|key| key.info.namespace.as_ref())
    }

    /// Returns the caller's API key, if the server requires keys.
    pub(crate) fn key(&self) -> Option<&KeyInfo> {
        self.key.as_ref().map(|key| &key.info)
    }

    /// Fills in an absent `requested_by` with the name of the caller's key.
    pub(crate) fn sign(&self, requested_by: &mut Option<String>) {
        if let (None, Some(key)) = (&requested_by, self.key()) {
            *requested_by = Some(key.name.to_string());
        }
    }

    /// Returns whether the caller's key has this role.
    pub(crate) fn has_shown(&self, role: Role) -> bool {
        self.key.as_ref().is_some_and(|key| key.info.may(role))
    }

    /// Counts a request, or returns how long to wait before the next one.
    pub(crate) fn ask(&self) -> Result<(), Duration> {
        self.callers.ask(self.address, Instant::now())
    }

    /// Counts a wrong token.
    pub(crate) fn was_wrong(&self) {
        // A caller that must wait learns it with its next request.
        let _held_back = self.callers.was_wrong(&(self.address, None), Instant::now());
    }

    /// Counts a wrong key, or returns how long to wait before the next one.
    pub(crate) fn count_wrong_key(&self, named: Option<&KeyId>) -> Result<(), Duration> {
        self.callers.was_wrong(&(self.address, named.cloned()), Instant::now())
    }
}

/// Writes the address of the caller and the id of its key.
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

/// An unknown caller.
impl Default for Caller {
    fn default() -> Self {
        Self::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), Arc::default())
    }
}

/// A caller whose request was counted before any of it was read.
pub(crate) struct CountedCaller(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for CountedCaller {
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

    fn wrong(callers: &Callers, address: IpAddr, now: Instant) -> Result<(), Duration> {
        callers.was_wrong(&(address, None), now)
    }

    #[test]
    fn a_caller_that_guesses_is_held_back_and_others_are_not() {
        let (callers, now) = (Callers::default(), Instant::now());
        let guesses = (0..).take_while(|_| wrong(&callers, v4(1), now).is_ok()).count();
        assert_eq!(guesses, 100);
        assert!(callers.ask(v4(1), now).is_err());
        assert_eq!(callers.ask(v4(2), now), Ok(()));
        let later = now + Duration::from_secs(1);
        let more = (0..20).filter(|_| wrong(&callers, v4(1), later).is_ok()).count();
        assert!((9..=11).contains(&more), "{more}");
    }

    #[test]
    fn the_delay_after_wrong_keys_is_bounded() {
        let (callers, now) = (Callers::default(), Instant::now());
        let longest = (0..5_000).filter_map(|_| wrong(&callers, v4(1), now).err()).max().unwrap();
        assert!(longest <= 2 * WRONG, "{longest:?}");
        assert_eq!(callers.ask(v4(1), now + 3 * WRONG), Ok(()));
    }

    #[test]
    fn keys_behind_one_address_do_not_pay_for_each_other() {
        let (callers, now) = (Callers::default(), Instant::now());
        let named = |id: &str| (v4(1), Some(KeyId::parse(id).unwrap()));
        assert!((0..200).any(|_| callers.was_wrong(&named("a1"), now).is_err()));
        assert!((0..200).any(|_| wrong(&callers, v4(1), now).is_err()));
        assert!(callers.was_wrong(&named("a1"), now).is_err());
        assert_eq!(callers.was_wrong(&named("b2"), now), Ok(()));
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
        assert!((0..200).any(|_| wrong(&callers, v6("2001:db8::1"), now).is_err()));
        assert!(callers.ask(v6("2001:db8::2"), now).is_err());
        assert!(callers.ask(v6("2001:db8:1::1"), now).is_ok());
    }

    #[test]
    fn inventing_addresses_costs_no_memory() {
        let (callers, now) = (Callers::default(), Instant::now());
        let many = |nth: u32| IpAddr::V4(Ipv4Addr::from_bits(nth + 1));
        let held_back = (0..30_000).filter(|nth| wrong(&callers, many(*nth), now).is_err()).count();
        assert!(held_back >= 30_000 - KNOWN - 100, "{held_back}");
        assert!(callers.count() <= KNOWN + 1);
        assert!(callers.ask(many(40_000), now).is_err(), "whoever comes late shares what is left");
        assert!(callers.ask(many(40_000), now + Duration::from_secs(3_600)).is_ok());
    }
}
