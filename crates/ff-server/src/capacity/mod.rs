//! The capacity of a server, and the share of it that one request holds.

pub(crate) mod pool;
pub(crate) mod rate;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::capacity::pool::{Permit, Pool, PoolError};
use crate::capacity::rate::RateKey;
use crate::listener::options::Limits;
use crate::response::problem::Problem;
use crate::routing::route_table::{self, Mark};

/// Retry delay for an overloaded server. It is short, because requests are short and capacity frees up quickly.
const AGAIN: Duration = Duration::from_secs(1);

/// Maximum number of requests whose body is still arriving. They cost a connection and little else, and have a separate limit:
/// a body that does not arrive keeps no other request out.
pub(crate) const ARRIVING: usize = 8_192;

/// The capacity for requests and streams. Requests that may wait have a separate pool, so that neither kind keeps out the
/// other.
pub(crate) struct Capacity {
    requests: Arc<Pool>,
    waiting: Arc<Pool>,
    streams: Arc<Pool>,
    arriving: Arc<Pool>,
    body_bytes: Arc<Pool>,
    pages: Semaphore,
}

impl Capacity {
    /// Creates the pools. With API keys, one caller gets at most half of each. Without keys, one caller may use all of it.
    pub(crate) fn new(limits: &Limits, has_keys: bool) -> Arc<Self> {
        let pool = |total| if has_keys { Pool::halved(total) } else { Pool::new(total, total) };
        Arc::new(Self {
            requests: pool(limits.in_flight),
            waiting: pool(limits.waiting),
            streams: pool(limits.streams),
            arriving: pool(ARRIVING),
            body_bytes: pool(limits.body_bytes),
            pages: Semaphore::new(pages_at_once()),
        })
    }

    /// Waits for a permit if the request reads a page.
    pub(crate) async fn turn(&self, method: &Method, route: &str) -> Option<SemaphorePermit<'_>> {
        let is_page = route_table::has_mark(method.as_str(), route, Mark::Page);
        // The semaphore is never closed, so a permit always comes.
        if is_page { self.pages.acquire().await.ok() } else { None }
    }

    /// Returns the slot of a request to a route.
    pub(crate) fn request(self: &Arc<Self>, method: &str, route: &str, who: RateKey) -> Arc<Slot> {
        let is_waiting = route_table::has_mark(method, route, Mark::Waits);
        Arc::new(Slot { capacity: self.clone(), who, is_waiting, state: Mutex::default() })
    }
}

/// Returns half of the number of processors, so that the other half is left for other requests.
fn pages_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |processors| processors.get() / 2).max(1)
}

/// The capacity that one request holds. It is released when the response is written.
pub(crate) struct Slot {
    capacity: Arc<Capacity>,
    who: RateKey,
    is_waiting: bool,
    state: Mutex<SlotState>,
}

#[derive(Default)]
struct SlotState {
    place: Option<Permit>,
    body: Option<Permit>,
    since: Option<Instant>,
}

/// A body that is arriving.
pub(crate) struct IncomingBody {
    slot: Arc<Slot>,
    bytes: Permit,
    _one: Permit,
}

impl Slot {
    /// Takes a place among the running requests.
    pub(crate) fn begin(&self) -> Result<(), Problem> {
        let pool = if self.is_waiting { &self.capacity.waiting } else { &self.capacity.requests };
        let place = pool.take(&self.who, 1).map_err(|full| overloaded(full, pool, "requests under way"))?;
        let mut state = self.state();
        state.place = Some(place);
        state.since = Some(Instant::now());
        Ok(())
    }

    /// Counts a body that begins to arrive.
    pub(crate) fn arriving(self: &Arc<Self>) -> Result<IncomingBody, Problem> {
        let (bodies, bytes) = (&self.capacity.arriving, &self.capacity.body_bytes);
        let one = bodies.take(&self.who, 1).map_err(|full| overloaded(full, bodies, "bodies on their way"))?;
        let bytes = bytes.take(&self.who, 0).map_err(|full| overloaded(full, bytes, "bytes of bodies"))?;
        Ok(IncomingBody { slot: self.clone(), bytes, _one: one })
    }

    /// Takes a permit for a stream.
    pub(crate) fn stream(&self) -> Result<Permit, Problem> {
        let streams = &self.capacity.streams;
        streams.take(&self.who, 1).map_err(|_| Problem::too_many_streams(streams.each()))
    }

    /// Returns when the request took its place; `None` while its body arrives.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.state().since
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Releases the memory of the body, which is not needed while the response is written.
    pub(crate) fn answered(&self) {
        self.state().body = None;
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IncomingBody {
    /// Counts bytes that have arrived.
    pub(crate) fn received(&mut self, bytes: usize) -> Result<(), Problem> {
        let pool = &self.slot.capacity.body_bytes;
        self.bytes.take_more(bytes).map_err(|full| overloaded(full, pool, "bytes of bodies"))
    }

    /// Ends the arrival: the request takes its place among the running ones, and keeps the memory of its body.
    pub(crate) fn complete(self) -> Result<(), Problem> {
        self.slot.state().body = Some(self.bytes);
        self.slot.begin()
    }
}

fn overloaded(full: PoolError, pool: &Pool, what: &str) -> Problem {
    let share = || format!("one key, or one address without a key, has at most {} {what} at once", pool.each());
    Problem::overloaded((full == PoolError::Share).then(share), AGAIN)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const CLAIM: &str = "/v1/workers/{instance}/claim";
    const SUBMIT: &str = "/v1/executions";

    fn capacity(has_keys: bool) -> Arc<Capacity> {
        let limits = Limits { in_flight: 2, waiting: 4, streams: 2, body_bytes: 100, ..Limits::default() };
        Capacity::new(&limits, has_keys)
    }

    fn caller(last: u8) -> RateKey {
        RateKey::Address(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    fn begun(capacity: &Arc<Capacity>, route: &str, who: u8) -> Option<Arc<Slot>> {
        let slot = capacity.request("POST", route, caller(who));
        slot.begin().ok().map(|()| slot)
    }

    #[test]
    fn waiting_requests_leave_capacity_for_brief_requests() {
        let capacity = capacity(false);
        let waiting: Vec<_> = (0..4).map(|_| begun(&capacity, CLAIM, 1).unwrap()).collect();
        assert!(begun(&capacity, CLAIM, 1).is_none());
        let brief = [begun(&capacity, SUBMIT, 1).unwrap(), begun(&capacity, SUBMIT, 1).unwrap()];
        assert!(begun(&capacity, SUBMIT, 1).is_none());
        drop((waiting, brief));
        assert!(begun(&capacity, CLAIM, 1).is_some() && begun(&capacity, SUBMIT, 1).is_some());
    }

    #[test]
    fn no_key_has_everything() {
        let capacity = capacity(true);
        let _one = (begun(&capacity, SUBMIT, 1).unwrap(), begun(&capacity, CLAIM, 1), begun(&capacity, CLAIM, 1));
        assert!(begun(&capacity, SUBMIT, 1).is_none() && begun(&capacity, CLAIM, 1).is_none());
        assert!(begun(&capacity, SUBMIT, 2).is_some() && begun(&capacity, CLAIM, 2).is_some());
        let (one, other) = (capacity.request("POST", SUBMIT, caller(1)), capacity.request("POST", SUBMIT, caller(2)));
        let _stream = one.stream().ok().unwrap();
        assert!(one.stream().is_err() && other.stream().is_ok());
    }

    #[test]
    fn a_body_on_its_way_holds_no_place_and_its_bytes_are_counted() {
        let capacity = capacity(true);
        let slot = capacity.request("POST", SUBMIT, caller(1));
        let mut body = slot.arriving().ok().unwrap();
        assert!(slot.since().is_none());
        assert!(body.received(40).is_ok() && body.received(11).is_err() && body.received(10).is_ok());
        let mut other = capacity.request("POST", SUBMIT, caller(2)).arriving().ok().unwrap();
        assert!(other.received(50).is_ok());
        assert!(body.complete().is_ok() && slot.since().is_some());
        drop(other);
        let mut again = capacity.request("POST", SUBMIT, caller(1)).arriving().ok().unwrap();
        assert!(again.received(1).is_err(), "the body is in memory until the request is answered");
        slot.answered();
        assert!(again.received(50).is_ok());
    }
}
