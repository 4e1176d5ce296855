//! Connections to a server or a cluster, which are shared, kept, and made again when they break.

mod cluster;
mod node;
mod primary;
mod shared;
mod single;
mod topology;
mod value;

use std::future::pending;
use std::time::Duration;

use ff_core::engine_error::EngineError;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{Cmd, RedisResult, Value};
use tokio::sync::watch;

use crate::call::{engine_error, unreachable};

pub(crate) use cluster::ClusterLink;
pub(crate) use primary::Plain;
pub(crate) use single::{SingleLink, connect};
pub(crate) use value::value;

/// Maximum time for making a connection.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time for an answer. A server that rewrites its log or waits for its disk may stall for seconds.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the TCP settings. Commands are small, and each has a caller that waits for it, so they are sent without
/// delay. A listener sends nothing, so keepalive has to detect that its server has vanished.
pub(crate) fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}

/// The connection to a store.
pub(crate) enum Link {
    Single(Box<SingleLink>),
    Cluster(ClusterLink),
}

/// The failure of a call without a reply.
#[derive(Clone)]
pub(crate) enum CallFailure {
    /// There is no connection; nothing was sent.
    Unsent(redis::RedisError),
    /// The commands may have been sent.
    Sent(redis::RedisError),
}

/// Converts the failure of a call for its caller.
pub(crate) fn call_failed(failed: &CallFailure) -> EngineError {
    match failed {
        CallFailure::Unsent(error) => unreachable(error),
        CallFailure::Sent(error) => engine_error(error),
    }
}

impl Link {
    /// Sends commands together, all for the slot of one key, and returns the last reply.
    pub(crate) async fn send(&self, key: &str, commands: &[Cmd]) -> Result<Value, CallFailure> {
        match self {
            Self::Single(link) => link.send(commands).await,
            Self::Cluster(link) => link.send(key, commands).await,
        }
    }

    /// Makes a new connection to every server that accepts writes.
    pub(crate) async fn primaries(&self) -> Result<Vec<Plain>, CallFailure> {
        match self {
            Self::Single(link) => Ok(vec![link.own().await?]),
            Self::Cluster(link) => link.primaries().await,
        }
    }

    /// Makes a new connection to the server that has the slot of a key.
    pub(crate) async fn primary_of(&self, key: &str) -> Result<Plain, CallFailure> {
        match self {
            Self::Single(link) => link.own().await,
            Self::Cluster(link) => link.primary_of(key).await,
        }
    }

    /// Returns the address of the primary of a key's slot; none when there is one server, or the slots are not known
    /// yet.
    pub(crate) fn address_of(&self, key: &str) -> Option<(String, u16)> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => link.address_of(key),
        }
    }

    /// Returns a channel that follows whether the primary of a key's slot answers nothing. None for a single server,
    /// which has no substitute.
    pub(crate) fn silence_of(&self, key: &str) -> Option<watch::Receiver<bool>> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => link.silence_of(key),
        }
    }

    /// Returns the servers where hints can be heard: in a cluster, any node.
    pub(crate) async fn listening_posts(&self) -> Vec<Post> {
        match self {
            Self::Single(link) => vec![Post { client: link.client().clone(), silence: None }],
            Self::Cluster(link) => link.posts().await,
        }
    }

    /// Returns a channel with the number of times that partitions came to another primary of a cluster.
    pub(crate) fn changes(&self) -> Option<watch::Receiver<u64>> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => Some(link.changes()),
        }
    }
}

/// A server where hints can be heard.
pub(crate) struct Post {
    pub(crate) client: redis::Client,
    silence: Option<watch::Receiver<bool>>,
}

impl Post {
    /// Returns when the server answers nothing, or is no longer part of the cluster. Never returns for a single server,
    /// which has no substitute.
    pub(crate) async fn went_silent(&mut self) {
        match &mut self.silence {
            Some(silence) => drop(silence.wait_for(|silent| *silent).await),
            None => pending().await,
        }
    }
}

/// Returns the last of several replies, or the first error among them.
fn last(replies: Vec<Value>) -> RedisResult<Value> {
    let mut last = Value::Nil;
    for reply in replies {
        last = reply.extract_error()?;
    }
    Ok(last)
}
