//! Asking a server, or a cluster of them: over connections that are shared, kept and made again when they break.

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

use crate::call_error::{engine_error, unreachable};

pub(crate) use cluster::ClusterLink;
pub(crate) use primary::Plain;
pub(crate) use single::{SingleLink, connect};
pub(crate) use value::value;

/// How long a connection may take to be made.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take. A server that rewrites its log or waits for its disk may stall for seconds.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Commands are small, and each has a caller that waits for it. A listener sends nothing, so the system has to find out
/// that a server has vanished.
pub(crate) fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}

/// A store as it is reached.
pub(crate) enum Link {
    Single(Box<SingleLink>),
    Cluster(ClusterLink),
}

/// Why there is no reply.
#[derive(Clone)]
pub(crate) enum CallFailure {
    /// There is no connection; nothing was sent.
    Unsent(redis::RedisError),
    /// It may have been sent.
    Sent(redis::RedisError),
}

/// The error a caller gets for a call that has no reply.
pub(crate) fn call_failed(failed: &CallFailure) -> EngineError {
    match failed {
        CallFailure::Unsent(error) => unreachable(error),
        CallFailure::Sent(error) => engine_error(error),
    }
}

impl Link {
    /// Sends commands together, all about the slot of one key, and gives the reply to the last.
    pub(crate) async fn send(&self, key: &str, commands: &[Cmd]) -> Result<Value, CallFailure> {
        match self {
            Self::Single(link) => link.send(commands).await,
            Self::Cluster(link) => link.send(key, commands).await,
        }
    }

    /// A connection of its own to every server that writes go to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Plain>, CallFailure> {
        match self {
            Self::Single(link) => Ok(vec![link.own().await?]),
            Self::Cluster(link) => link.primaries().await,
        }
    }

    /// A connection of its own to the server that has the slot of a key.
    pub(crate) async fn primary_of(&self, key: &str) -> Result<Plain, CallFailure> {
        match self {
            Self::Single(link) => link.own().await,
            Self::Cluster(link) => link.primary_of(key).await,
        }
    }

    /// The primary of a key's slot; none when there is one server, or the slots are not known yet.
    pub(crate) fn address_of(&self, key: &str) -> Option<(String, u16)> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => link.address_of(key),
        }
    }

    /// Tells whether the primary of a cluster that has the slot of a key answers nothing. A lone server is waited for.
    pub(crate) fn silence_of(&self, key: &str) -> Option<watch::Receiver<bool>> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => link.silence_of(key),
        }
    }

    /// Where hints may be heard: in a cluster any node will do.
    pub(crate) async fn listening_posts(&self) -> Vec<Post> {
        match self {
            Self::Single(link) => vec![Post { client: link.client().clone(), silence: None }],
            Self::Cluster(link) => link.posts().await,
        }
    }

    /// Tells how often partitions came to another primary of a cluster.
    pub(crate) fn changes(&self) -> Option<watch::Receiver<u64>> {
        match self {
            Self::Single(_) => None,
            Self::Cluster(link) => Some(link.changes()),
        }
    }
}

/// A server where hints may be heard.
pub(crate) struct Post {
    pub(crate) client: redis::Client,
    silence: Option<watch::Receiver<bool>>,
}

impl Post {
    /// Comes when the server was found to answer nothing, or is part of the cluster no more. A lone server has no
    /// substitute, so of one it never comes.
    pub(crate) async fn went_silent(&mut self) {
        match &mut self.silence {
            Some(silence) => drop(silence.wait_for(|silent| *silent).await),
            None => pending().await,
        }
    }
}

/// The reply to the last of several commands; the first error among them, if there is one.
fn last(replies: Vec<Value>) -> RedisResult<Value> {
    let mut last = Value::Nil;
    for reply in replies {
        last = reply.extract_error()?;
    }
    Ok(last)
}
