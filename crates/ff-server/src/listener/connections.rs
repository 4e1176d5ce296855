//! The open connections, limited in total and per address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::capacity::pool::{Permit, Pool, PoolError};
use crate::capacity::rate::{RateKey, network};
/// Minimum time between two warnings about refused connections.
const SAY_AGAIN: Duration = Duration::from_secs(10);

/// All open connections. At the limit, connections that have not authenticated are closed for new ones; the others stay.
pub(crate) struct Connections {
    pool: Arc<Pool>,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// Connections that have not authenticated, oldest first.
    unproven: BTreeMap<u64, UnauthenticatedConnection>,
    next: u64,
    warned_at: Option<Instant>,
}

struct UnauthenticatedConnection {
    from: RateKey,
    close: CancellationToken,
    _taken: Permit,
}

/// One open connection; dropping it ends the count.
pub(crate) struct Connection {
    id: u64,
    connections: Arc<Connections>,
    close: CancellationToken,
    proven: Mutex<Option<UnauthenticatedConnection>>,
}

impl Connections {
    pub(crate) fn new(total: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { pool: Pool::new(total, each), open: Mutex::default() })
    }

    /// Counts a new connection; returns `None` if there is no room for it.
    pub(crate) fn open(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Connection>> {
        let from = RateKey::Address(network(address));
        let mut open = self.lock();
        let taken = loop {
            match self.pool.take(&from, 1) {
                Ok(taken) => break taken,
                Err(full) => match open.oldest(full, &from) {
                    Some(oldest) => oldest.close.cancel(),
                    None => {
                        open.say(full, address);
                        return None;
                    }
                },
            }
        };
        let (id, close) = (open.next, CancellationToken::new());
        open.next += 1;
        open.unproven.insert(id, UnauthenticatedConnection { from, close: close.clone(), _taken: taken });
        drop(open);
        Some(Arc::new(Connection { id, connections: self.clone(), close, proven: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// Removes the oldest connection that may be closed. If the limit of an address is reached, this is one of that address.
    fn oldest(&mut self, full: PoolError, from: &RateKey) -> Option<UnauthenticatedConnection> {
        let mut candidates = self.unproven.iter().filter(|(_, open)| full == PoolError::All || open.from == *from);
        let id = *candidates.next()?.0;
        self.unproven.remove(&id)
    }

    fn say(&mut self, full: PoolError, address: IpAddr) {
        if self.warned_at.is_some_and(|at| at.elapsed() < SAY_AGAIN) {
            return;
        }
        self.warned_at = Some(Instant::now());
        let scope = if full == PoolError::All { "in all".to_owned() } else { format!("from {address}") };
        tracing::warn!("connections are refused: the maximum number of connections {scope} is open");
    }
}

impl Connection {
    /// Marks the connection as authenticated, so that it stays open at the limit.
    pub(crate) fn prove(&self) {
        let mut proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        if proven.is_none() {
            *proven = self.connections.lock().unproven.remove(&self.id);
        }
    }

    /// Waits until the connection must close to make room for another.
    pub(crate) async fn closed(&self) {
        self.close.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().unproven.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn silent_connections_give_way_to_new_ones_and_others_do_not() {
        let connections = Connections::new(2, 2);
        let first = connections.open(address(1)).unwrap();
        let second = connections.open(address(1)).unwrap();
        second.prove();
        let third = connections.open(address(2)).unwrap();
        assert!(first.close.is_cancelled() && !second.close.is_cancelled());
        third.prove();
        assert!(connections.open(address(3)).is_none(), "nobody gives way");
        drop(second);
        assert!(connections.open(address(3)).is_some());
        assert!(!third.close.is_cancelled());
    }

    #[test]
    fn an_address_that_has_too_many_gives_up_its_own() {
        let connections = Connections::new(10, 2);
        let other = connections.open(address(2)).unwrap();
        let own: Vec<_> = (0..4).map(|_| connections.open(address(1)).unwrap()).collect();
        let closed: Vec<_> = own.iter().map(|connection| connection.close.is_cancelled()).collect();
        assert_eq!(closed, [true, true, false, false]);
        assert!(!other.close.is_cancelled());
        own.iter().for_each(|connection| connection.prove());
        assert!(connections.open(address(1)).is_none() && connections.open(address(2)).is_some());
    }
}
