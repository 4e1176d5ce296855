//! One node of a cluster, over its own connection.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Client, Cmd, ConnectionAddr, ConnectionInfo, RedisError, RedisResult, Value, cmd, pipe};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::shared::SharedConnection;
use super::single::connect;
use super::topology::{Address, View, questions};
use super::{CallFailure, last};

/// Time without an answer from a node before the other nodes are asked whether it was replaced.
pub(super) const SILENCE: Duration = Duration::from_millis(200);

pub(super) struct Node {
    pub(super) address: Address,
    client: Client,
    connection: SharedConnection<MultiplexedConnection>,
    /// Number of replies from the node.
    answers: AtomicU64,
    /// Whether the node has not answered for a while although it was asked.
    silent: watch::Sender<bool>,
    /// Whether the node does not answer and the cluster considers it failed or suspects it. Nothing is sent to it then.
    failing: AtomicBool,
    /// Cancelled when another node has its slots, or it is failing. Then callers no longer wait for its replies.
    retired: CancellationToken,
}

impl Node {
    /// Creates a node that is reached with the settings of a seed.
    pub(super) fn like(seed: &ConnectionInfo, address: Address) -> RedisResult<Self> {
        let (host, port) = address.clone();
        let client = Client::open(seed.clone().set_addr(at(seed.addr(), host, port)))?;
        let connection = SharedConnection::absent();
        let (answers, silent, failing) = (AtomicU64::new(0), watch::Sender::new(false), AtomicBool::new(false));
        Ok(Self { address, client, connection, answers, silent, failing, retired: CancellationToken::new() })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends commands together and returns the last reply. Calls `on_silence` each time that the node has answered
    /// nothing, neither this call nor another, for a while.
    pub(super) async fn ask(
        &self,
        commands: &[Cmd],
        asking: bool,
        on_silence: impl Fn(),
    ) -> Result<Value, CallFailure> {
        let mut call = pin!(self.send(commands, asking));
        loop {
            let answers = self.answers.load(Ordering::Relaxed);
            tokio::select! {
                biased;
                reply = &mut call => return last(reply?).map_err(CallFailure::Sent),
                () = self.retired.cancelled() => {
                    return Err(CallFailure::Sent((redis::ErrorKind::Io, "the cluster takes it for failed").into()));
                }
                () = a_while() => {
                    if self.answers.load(Ordering::Relaxed) == answers {
                        self.fell_silent();
                        on_silence();
                    }
                }
            }
        }
    }

    /// Returns the node's view of the cluster.
    pub(super) async fn view(&self) -> Result<View, CallFailure> {
        let replies = self.send(&questions(), false).await?;
        let read = || -> RedisResult<View> {
            let [slots, nodes] = <[Value; 2]>::try_from(replies)
                .map_err(|_| RedisError::from((redis::ErrorKind::UnexpectedReturnType, "two replies were expected")))?;
            View::read(slots.extract_error()?, nodes.extract_error()?, &self.address.0)
        };
        read().map_err(CallFailure::Sent)
    }

    async fn send(&self, commands: &[Cmd], asking: bool) -> Result<Vec<Value>, CallFailure> {
        let client = self.client.clone();
        let connect = || async move { connect(&client).await };
        let (number, mut connection) = self.connection.get(connect).await.map_err(CallFailure::Unsent)?;
        let mut pipeline = pipe();
        if asking {
            pipeline.add_command(cmd("ASKING"));
        }
        commands.iter().for_each(|command| {
            pipeline.add_command(command.clone());
        });
        let count = commands.len() + usize::from(asking);
        match connection.send_packed_commands(&pipeline, 0, count).await {
            Ok(replies) => {
                self.answers.fetch_add(1, Ordering::Relaxed);
                self.silent.send_if_modified(|silent| std::mem::replace(silent, false));
                Ok(replies)
            }
            Err(error) => {
                // A connection that went silent may never break by itself.
                if error.is_unrecoverable_error() || error.is_timeout() {
                    self.connection.broke(number);
                }
                Err(CallFailure::Sent(error))
            }
        }
    }

    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(super) fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Relaxed);
    }

    pub(super) fn is_silent(&self) -> bool {
        *self.silent.borrow()
    }

    /// Marks the node as silent.
    pub(super) fn fell_silent(&self) {
        self.silent.send_if_modified(|silent| !std::mem::replace(silent, true));
    }

    /// Returns a channel that follows whether the node is silent. It closes when the node leaves the cluster.
    pub(super) fn silence(&self) -> watch::Receiver<bool> {
        self.silent.subscribe()
    }

    /// Ends all waits for replies of the node.
    pub(super) fn retire(&self) {
        self.retired.cancel();
    }
}

#[allow(clippy::disallowed_methods, reason = "nothing signals that no answer comes")]
async fn a_while() {
    tokio::time::sleep(SILENCE).await;
}

/// Returns an address with the settings of another one. An empty host means the same host.
fn at(like: &ConnectionAddr, host: String, port: u16) -> ConnectionAddr {
    let host = match like {
        ConnectionAddr::Tcp(here, _) | ConnectionAddr::TcpTls { host: here, .. } if host.is_empty() => here.clone(),
        _ => host,
    };
    match like {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
        }
        _ => ConnectionAddr::Tcp(host, port),
    }
}
