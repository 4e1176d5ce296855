//! Looking at a server before using it: what it is, and whether it can be used at all. Nothing is written.

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisError, cmd};

use crate::ConnectError;
use crate::trouble::{said, trouble};

/// What a server says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) cluster: bool,
}

/// Looks at a server.
pub(crate) async fn probe(address: &str, connection: &mut MultiplexedConnection) -> Result<Probed, ConnectError> {
    let refused = |error: RedisError| refusal(address, &error);
    let info: String = cmd("INFO").arg("server").query_async(connection).await.map_err(refused)?;
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim)
    };
    let version = field("redis_version").unwrap_or_default();
    if major(version) < 7 {
        return Err(ConnectError::TooOld { address: address.into(), found: format!("Redis {version}") });
    }
    let listed = cmd("FUNCTION").arg("LIST").query_async::<redis::Value>(connection).await;
    listed.map_err(|error| ConnectError::NoFunctions { address: address.into(), why: said(&error) })?;
    // Valkey has a word of its own for it.
    let mode = field("server_mode").or_else(|| field("redis_mode"));
    Ok(Probed { cluster: mode == Some("cluster") })
}

/// Why a server cannot be looked at.
pub(crate) fn refusal(address: &str, error: &RedisError) -> ConnectError {
    let address = address.to_owned();
    let closed = matches!(error.code(), Some("NOAUTH" | "NOPERM" | "WRONGPASS"));
    if closed || error.kind() == ErrorKind::AuthenticationFailed {
        return ConnectError::NotAllowed { address, why: said(error) };
    }
    if error.is_io_error() {
        return ConnectError::Unreachable { address, why: said(error) };
    }
    if error.kind() == ErrorKind::Parse {
        return ConnectError::Unreachable { address, why: format!("it answers as no Valkey does: {}", said(error)) };
    }
    ConnectError::Server(trouble(error))
}

fn major(version: &str) -> u32 {
    version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default()
}
