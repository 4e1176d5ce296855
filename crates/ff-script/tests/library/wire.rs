//! A server for one test, called over one connection and inspected without the library.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ff_core::engine_error::EngineError;
use ff_script::{Fcall, LibraryClock, Primary, Server, Value, ensure_library, test_clock_key};
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, cmd};

use crate::servers::{Flavour, Process};

/// The time at which tests begin when they own the clock.
const BEGINNING: u64 = 1_700_000_000_000;

pub(crate) struct Wire {
    _server: Process,
    client: Client,
    connection: MultiplexedConnection,
    now: AtomicU64,
}

impl Wire {
    /// Starts a server without the library.
    pub(crate) async fn bare() -> Self {
        let server = Process::start(Flavour::Valkey, &[]);
        let client = Client::open(format!("redis://127.0.0.1:{}", server.port)).unwrap();
        // A machine that also compiles may take longer than the default of half a second.
        let patient = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(20)));
        let connection = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
        Self { _server: server, client, connection, now: AtomicU64::new(BEGINNING) }
    }

    /// Starts a server with the library.
    pub(crate) async fn start(clock: LibraryClock) -> Self {
        let wire = Self::bare().await;
        ensure_library(&wire, clock).await.unwrap();
        wire.advance(0).await;
        wire
    }

    /// Empties the server without changing its time. The functions must notice that their caches are stale.
    pub(crate) async fn empty(&self) {
        self.ask::<()>(cmd("FLUSHALL").arg("SYNC")).await;
        self.advance(0).await;
    }

    /// Moves the clock of the one partition that tests use.
    pub(crate) async fn advance(&self, ms: u64) {
        let now = self.now.fetch_add(ms, Ordering::SeqCst) + ms;
        self.ask::<()>(cmd("SET").arg(test_clock_key("{fp:0}")).arg(now)).await;
    }

    /// Returns the time of the server.
    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// Returns all messages on a channel from now on.
    pub(crate) async fn listen(&self, channel: &str) -> PubSub {
        let mut listening = self.client.get_async_pubsub().await.unwrap();
        listening.subscribe(channel).await.unwrap();
        listening
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        command.query_async(&mut self.connection.clone()).await.unwrap()
    }

    /// Returns every key with its bytes and its expiry, except the latest time of a partition, which a refused call may
    /// also record.
    pub(crate) async fn contents(&self) -> BTreeMap<String, (Vec<u8>, i64)> {
        let mut contents = BTreeMap::new();
        for key in self.keys().await {
            let bytes = self.ask(cmd("DUMP").arg(&key)).await;
            let expiry = self.ask(cmd("PEXPIRETIME").arg(&key)).await;
            contents.insert(key, (bytes, expiry));
        }
        contents.remove("ff:part:{fp:0}:clock");
        contents
    }

    pub(crate) async fn keys(&self) -> Vec<String> {
        self.ask(cmd("KEYS").arg("*")).await
    }

    /// Returns the server's functions with their flags.
    pub(crate) async fn functions(&self) -> BTreeMap<String, Vec<String>> {
        type Description = BTreeMap<String, redis::Value>;
        let libraries: Vec<Description> = self.ask(cmd("FUNCTION").arg("LIST")).await;
        let mut found = BTreeMap::new();
        for mut library in libraries {
            let functions = Vec::<Description>::from_redis_value(library.remove("functions").unwrap()).unwrap();
            for mut function in functions {
                let mut field = |name| function.remove(name).unwrap();
                let name = String::from_redis_value(field("name")).unwrap();
                found.insert(name, Vec::from_redis_value(field("flags")).unwrap());
            }
        }
        found
    }

    /// Returns the words of the answer to a call.
    pub(crate) async fn answer(&self, call: Fcall) -> Vec<String> {
        let Value::List(values) = self.fcall(call).await.unwrap() else { panic!("the answer is a list") };
        let word = |value| match value {
            Value::Int(number) => number.to_string(),
            Value::Bytes(bytes) => String::from_utf8(bytes.into()).unwrap(),
            _ => "nothing".into(),
        };
        values.into_iter().map(word).collect()
    }

    async fn call(&self, call: &Fcall) -> redis::RedisResult<Value> {
        let mut fcall = cmd("FCALL");
        fcall.arg(call.signature.name).arg(call.keys.len()).arg(&call.keys);
        for arg in &call.args {
            fcall.arg(&arg[..]);
        }
        fcall.query_async(&mut self.connection.clone()).await.map(value)
    }
}

#[async_trait]
impl Server for Wire {
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError> {
        self.call(&call).await.map_err(|error| EngineError::Corrupt(error.to_string()))
    }
}

#[async_trait]
impl Primary for Wire {
    async fn fcall_if_there(&self, call: Fcall) -> Result<Option<Value>, EngineError> {
        match self.call(&call).await {
            Ok(reply) => Ok(Some(reply)),
            Err(error) if error.to_string().contains("Function not found") => Ok(None),
            Err(error) => Err(EngineError::Corrupt(error.to_string())),
        }
    }

    async fn load(&self, library: &str) -> Result<(), EngineError> {
        self.ask::<String>(cmd("FUNCTION").arg("LOAD").arg("REPLACE").arg(library)).await;
        Ok(())
    }
}

fn value(reply: redis::Value) -> Value {
    match reply {
        redis::Value::Nil => Value::Nil,
        redis::Value::Int(number) => Value::Int(number),
        redis::Value::BulkString(bytes) => Value::Bytes(bytes.into()),
        redis::Value::Array(values) => Value::List(values.into_iter().map(value).collect()),
        other => panic!("the library does not answer {other:?}"),
    }
}
