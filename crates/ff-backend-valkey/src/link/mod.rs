//! Asking a server, or a cluster of them: over connections that are shared, kept and made again when they break.

mod cluster;
mod primary;
mod shared;
mod single;
mod value;

use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{Cmd, RedisResult, Value};

pub(crate) use cluster::ClusterLink;
pub(crate) use primary::Plain;
pub(crate) use single::{SingleLink, connect};
pub(crate) use value::value;

/// How long a connection may take to be made.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take. A server that rewrites its log or waits for its disk may stall for seconds.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Commands are small, and somebody waits for each. A listener asks nothing, so the system has to find out that a server
/// has vanished.
pub(crate) fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}

/// A store as it is reached.
pub(crate) enum Link {
    Single(Box<SingleLink>),
    Cluster(Box<ClusterLink>),
}

/// Why there is no reply.
#[derive(Clone)]
pub(crate) enum Failed {
    /// There is no connection; nothing was sent.
    Unsent(redis::RedisError),
    /// It may have been sent.
    Sent(redis::RedisError),
}

impl Link {
    /// Sends commands together, all about the slot of one key, and gives the reply to the last.
    pub(crate) async fn send(&self, key: &str, commands: &[Cmd]) -> Result<Value, Failed> {
        match self {
            Self::Single(link) => link.send(commands).await,
            Self::Cluster(link) => link.send(key, commands).await,
        }
    }

    /// A connection of its own to every server that writes go to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Plain>, Failed> {
        match self {
            Self::Single(link) => Ok(vec![link.own().await?]),
            Self::Cluster(link) => link.primaries().await,
        }
    }

    /// Where hints may be heard: in a cluster any node will do.
    pub(crate) async fn listening_posts(&self) -> Vec<redis::Client> {
        match self {
            Self::Single(link) => vec![link.client().clone()],
            Self::Cluster(link) => link.nodes().await,
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
