//! Checks of a server before it is used: its identity, its version and its settings. They write nothing.

use std::collections::BTreeSet;

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisError, cmd};

use crate::ConnectError;
use crate::call::{engine_error, message_of};
use crate::link::Plain;

/// A server's identity, as it reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerProbe {
    pub(crate) cluster: bool,
}

/// Checks a server, and returns its identity.
pub(crate) async fn probe(address: &str, connection: &mut MultiplexedConnection) -> Result<ServerProbe, ConnectError> {
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
    listed.map_err(|error| ConnectError::NoFunctions { address: address.into(), why: message_of(&error) })?;
    // Valkey has its own name for this field.
    let mode = field("server_mode").or_else(|| field("redis_mode"));
    Ok(ServerProbe { cluster: mode == Some("cluster") })
}

/// Converts the error of a failed check.
pub(crate) fn refusal(address: &str, error: &RedisError) -> ConnectError {
    let address = address.to_owned();
    let closed = matches!(error.code(), Some("NOAUTH" | "NOPERM" | "WRONGPASS"));
    if closed || error.kind() == ErrorKind::AuthenticationFailed {
        return ConnectError::NotAllowed { address, why: message_of(error) };
    }
    if error.is_io_error() {
        return ConnectError::Unreachable { address, why: message_of(error) };
    }
    if error.kind() == ErrorKind::Parse {
        return ConnectError::Unreachable {
            address,
            why: format!("it answers as no Valkey does: {}", message_of(error)),
        };
    }
    ConnectError::Server(engine_error(error))
}

fn major(version: &str) -> u32 {
    version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default()
}

/// Returns the settings of these servers that may lose acknowledged work, with the safe values.
pub(crate) async fn find(address: &str, primaries: &[Plain]) -> Result<BTreeSet<String>, ConnectError> {
    let mut found = BTreeSet::new();
    for primary in primaries {
        let info = primary.ask::<String>(cmd("INFO").arg("persistence").arg("memory")).await;
        let info = info.map_err(|error| refusal(address, &error))?;
        // This setting is not part of INFO, and many users and hosted servers do not allow CONFIG.
        let fsync = primary.ask::<Vec<String>>(cmd("CONFIG").arg("GET").arg("appendfsync")).await;
        found.extend(risks(&info, fsync));
    }
    Ok(found)
}

fn risks(info: &str, fsync: Result<Vec<String>, RedisError>) -> Vec<String> {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let mut risks = Vec::new();
    match (field("aof_enabled"), fsync) {
        (Some("1"), Ok(setting)) => {
            if setting.last().is_some_and(|policy| policy == "no") {
                risks.push("appendfsync is no: set it to everysec or always".to_owned());
            }
        }
        (Some("1"), Err(error)) => {
            risks.push(format!("appendfsync could not be checked ({}): allow +config|get", message_of(&error)));
        }
        _ => risks.push("appendonly is no: set it to yes".to_owned()),
    }
    match field("maxmemory_policy") {
        Some("noeviction") => {}
        Some(policy) => risks.push(format!("maxmemory-policy is {policy}: set it to noeviction")),
        None => risks.push("maxmemory-policy could not be checked: INFO does not tell it".to_owned()),
    }
    risks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(aof: &str, policy: &str, fsync: &str) -> Vec<String> {
        let info = format!("# Persistence\r\naof_enabled:{aof}\r\n# Memory\r\nmaxmemory_policy:{policy}\r\n");
        risks(&info, Ok(vec!["appendfsync".to_owned(), fsync.to_owned()]))
    }

    #[test]
    fn only_an_append_only_file_that_is_synced_and_no_eviction_are_safe() {
        for fsync in ["always", "everysec"] {
            assert_eq!(found("1", "noeviction", fsync), [""; 0]);
        }
        assert_eq!(found("1", "noeviction", "no"), ["appendfsync is no: set it to everysec or always"]);
        assert_eq!(found("0", "noeviction", "always"), ["appendonly is no: set it to yes"]);
        for policy in ["allkeys-lru", "volatile-lru", "volatile-ttl", "allkeys-random"] {
            assert_eq!(found("1", policy, "always"), [format!("maxmemory-policy is {policy}: set it to noeviction")]);
        }
        assert_eq!(found("0", "allkeys-lfu", "no").len(), 2);
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_a_risk() {
        let denied = (ErrorKind::Io, "denied").into();
        let risks = risks("aof_enabled:1\r\n", Err(denied));
        assert!(risks.iter().all(|risk| risk.contains("could not be checked")) && risks.len() == 2, "{risks:?}");
    }
}
