//! How many requests are under way at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::options::Limits;
use crate::problem::Problem;

/// Routes whose requests may wait for something to happen, or are streams.
const WAITING: &[&str] = &[
    "/v1/deliveries",
    "/v1/events",
    "/v1/executions/{id}/events",
    "/v1/executions/{id}/result",
    "/v1/flows/{flow}",
    "/v1/flows/{flow}/cancel",
    "/v1/flows/{flow}/events",
    "/v1/workers/{instance}/claim",
    "/v1/workers/{instance}/control",
];

/// When to ask again: requests are short, and room comes quickly.
const AGAIN: Duration = Duration::from_secs(1);

/// All requests under way. Those that wait are counted apart from those that do not, so that neither keeps out the other.
#[derive(Clone)]
pub(crate) struct Crowd {
    brief: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// A request's place among those under way, for as long as it or its stream lasts.
pub(crate) type Place = Arc<OwnedSemaphorePermit>;

impl Crowd {
    pub(crate) fn new(limits: &Limits) -> Self {
        let room = |most: usize| Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Self { brief: room(limits.in_flight), waiting: room(limits.waiting) }
    }

    /// Lets a request to a route in, if there is room.
    pub(crate) fn enter(&self, route: &str) -> Result<Place, Problem> {
        let room = if WAITING.contains(&route) { &self.waiting } else { &self.brief };
        room.clone().try_acquire_owned().map(Arc::new).map_err(|_| Problem::overloaded(AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_route_that_waits_is_there() {
        for path in WAITING {
            assert!(ROUTES.iter().any(|(_, known, _)| known == path), "{path}");
        }
    }

    #[test]
    fn those_that_wait_keep_nobody_out() {
        let crowd = Crowd::new(&Limits { in_flight: 1, waiting: 2, rate: None });
        let claim = "/v1/workers/{instance}/claim";
        let waiting = [crowd.enter(claim).unwrap(), crowd.enter(claim).unwrap()];
        assert!(crowd.enter(claim).is_err());
        let brief = crowd.enter("/v1/executions").unwrap();
        assert!(crowd.enter("/v1/executions").is_err());
        drop((waiting, brief));
        assert!(crowd.enter(claim).is_ok() && crowd.enter("/v1/executions").is_ok());
    }
}
