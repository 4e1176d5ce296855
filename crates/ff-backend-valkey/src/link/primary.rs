//! A server that accepts writes, called directly, to load the library and to read its settings.

use async_trait::async_trait;
use ff_core::engine_error::EngineError;
use ff_core::keys::HINTS_CHANNEL;
use ff_script::{Fcall, Primary, Value};
use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, cmd};

use super::value;
use crate::call::{engine_error, lacks_the_library};

/// An exclusive connection to one server.
pub(crate) struct Plain(MultiplexedConnection);

impl Plain {
    pub(crate) fn new(connection: MultiplexedConnection) -> Self {
        Self(connection)
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, redis::RedisError> {
        command.query_async(&mut self.0.clone()).await
    }
}

#[async_trait]
impl Primary for Plain {
    async fn fcall_if_there(&self, call: Fcall) -> Result<Option<Value>, EngineError> {
        match self.ask::<redis::Value>(cmd("FCALL").arg(call.signature.name).arg(0)).await {
            Ok(reply) => Ok(Some(value(reply))),
            Err(error) if lacks_the_library(&error) => Ok(None),
            Err(error) => Err(engine_error(&error)),
        }
    }

    async fn load(&self, library: &str) -> Result<(), EngineError> {
        let load = cmd("FUNCTION").arg("LOAD").arg("REPLACE").arg(library).clone();
        self.ask::<redis::Value>(&load).await.map_err(|error| engine_error(&error))?;
        // The cache of the functions was lost with the old library, so listeners must look everywhere.
        let missed = cmd("PUBLISH").arg(HINTS_CHANNEL).arg("missed").clone();
        self.ask::<redis::Value>(&missed).await.map(drop).map_err(|error| engine_error(&error))
    }
}
