//! One server, over one connection.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ConnectionInfo, RedisError, RedisResult, Value, pipe};

use super::shared::SharedConnection;
use super::{CONNECT_TIMEOUT, CallFailure, Plain, RESPONSE_TIMEOUT, last};

/// Maximum number of calls queued on a connection, more than there ever are. Beyond it, a call waits for a place. Such
/// a place may go to a call that its caller does not poll, and calls that are polled would then find all places taken.
const QUEUE: usize = 1 << 20;

pub(crate) struct SingleLink {
    client: Client,
    connection: SharedConnection<MultiplexedConnection>,
}

impl SingleLink {
    pub(crate) fn to(info: ConnectionInfo) -> RedisResult<Self> {
        Ok(Self { client: Client::open(info)?, connection: SharedConnection::absent() })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends commands together and returns the last reply.
    pub(super) async fn send(&self, commands: &[Cmd]) -> Result<Value, CallFailure> {
        let [one] = commands else { return last(self.send_all(commands).await?).map_err(CallFailure::Sent) };
        let (number, mut connection) = self.connected().await?;
        let reply = connection.send_packed_command(one).await.and_then(Value::extract_error);
        reply.map_err(|error| self.failed(number, error))
    }

    /// Sends commands together and returns all replies.
    pub(crate) async fn send_all(&self, commands: &[Cmd]) -> Result<Vec<Value>, CallFailure> {
        let (number, mut connection) = self.connected().await?;
        let mut pipeline = pipe();
        for command in commands {
            pipeline.add_command(command.clone());
        }
        let replies = connection.send_packed_commands(&pipeline, 0, commands.len()).await;
        replies.map_err(|error| self.failed(number, error))
    }

    async fn connected(&self) -> Result<(u64, MultiplexedConnection), CallFailure> {
        let connect = || {
            let client = self.client.clone();
            async move { connect(&client).await }
        };
        self.connection.get(connect).await.map_err(CallFailure::Unsent)
    }

    fn failed(&self, number: u64, error: RedisError) -> CallFailure {
        // A connection that went silent may never break by itself.
        if error.is_unrecoverable_error() || error.is_timeout() {
            self.connection.broke(number);
        }
        CallFailure::Sent(error)
    }

    /// Makes an exclusive connection.
    pub(crate) async fn own(&self) -> Result<Plain, CallFailure> {
        let connection = connect(&self.client).await.map_err(CallFailure::Unsent)?;
        Ok(Plain::new(connection))
    }
}

/// Makes a new connection to a server.
pub(crate) async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_pipeline_buffer_size(QUEUE);
    client.get_multiplexed_async_connection_with_config(&config).await
}
