//! Ports for servers: each belongs to one test until its process ends, even while its server is stopped.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// Below the ports that the system gives to clients, because a client could otherwise get the port of a server that
/// restarts.
const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// A UDP socket on each chosen port keeps other tests from choosing it.
static KEPT: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// Returns a free port that no other test gets.
pub fn free_port() -> u16 {
    let mut sockets = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    // Processes start at distant ports, so that they seldom collide.
    let begin = std::process::id().wrapping_mul(7_919);
    for nth in 0..COUNT {
        let port = u16::try_from(FIRST + begin.wrapping_add(nth) % COUNT).expect("a port");
        let reserved = UdpSocket::bind((Ipv4Addr::LOCALHOST, port));
        if let (Ok(reserved), Ok(_)) = (reserved, TcpListener::bind((Ipv4Addr::LOCALHOST, port))) {
            sockets.push(reserved);
            return port;
        }
    }
    panic!("no port is free");
}
