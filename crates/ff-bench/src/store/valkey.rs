//! A store on a Valkey server, or on the servers of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use ff_backend_valkey::{StoreLocation, ValkeyBackend, ValkeyOptions};
use ff_sdk::ConnectError;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, cmd};
use serde_json::Value;

use super::StoreUsage;

/// The servers of a store, reached with the same client library as the store uses.
#[derive(Clone)]
pub(crate) enum Servers {
    One { client: Arc<Client>, connection: MultiplexedConnection },
    Cluster { connection: ClusterConnection },
}

impl Servers {
    pub(super) async fn connect(url: &str) -> anyhow::Result<(Arc<ValkeyBackend>, Self)> {
        let store = ValkeyBackend::connect(url, ValkeyOptions::default()).await.map_err(ConnectError::from)?;
        let place = StoreLocation::parse(url)?;
        let servers = if place.is_cluster() {
            let connection = ClusterClient::new(place.nodes().to_vec())?.get_async_connection().await?;
            Self::Cluster { connection }
        } else {
            let node = place.nodes().first().context("host: is missing, must be as in valkey://HOST:PORT")?;
            let client = Arc::new(Client::open(node.clone())?);
            let patient = AsyncConnectionConfig::new().set_response_timeout(None);
            let connection = client.get_multiplexed_async_connection_with_config(&patient).await?;
            Self::One { client, connection }
        };
        Ok((Arc::new(store), servers))
    }

    /// Returns the client of the only server.
    pub(crate) fn only(&self) -> Option<&Client> {
        match self {
            Self::One { client, .. } => Some(client),
            Self::Cluster { .. } => None,
        }
    }

    /// Sends a command to the primary that has its key.
    pub(crate) async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> anyhow::Result<T> {
        Ok(match self {
            Self::One { connection, .. } => command.query_async(connection).await?,
            Self::Cluster { connection } => command.query_async(connection).await?,
        })
    }

    /// Sends a command to every primary.
    pub(crate) async fn ask_all<T: FromRedisValue>(&mut self, command: &Cmd) -> anyhow::Result<Vec<T>> {
        match self {
            Self::One { connection, .. } => Ok(vec![command.query_async(connection).await?]),
            Self::Cluster { connection } => {
                let primaries = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                match connection.route_command(command.clone(), primaries).await? {
                    redis::Value::Map(answers) => {
                        answers.into_iter().map(|(_, answer)| Ok(T::from_redis_value(answer)?)).collect()
                    }
                    other => bail!("the cluster answered {other:?}"),
                }
            }
        }
    }

    pub(super) async fn reading(&mut self) -> anyhow::Result<StoreUsage> {
        let mut reading = StoreUsage::default();
        for info in self.ask_all::<String>(cmd("INFO").arg("memory").arg("cpu").arg("commandstats")).await? {
            reading.bytes += field(&info, "used_memory").and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
            for seconds in ["used_cpu_user", "used_cpu_sys"].map(|name| field(&info, name)).into_iter().flatten() {
                reading.busy_us += u64::try_from(Duration::from_secs_f64(seconds.parse()?).as_micros())?;
            }
            for (command, calls, us) in info.lines().filter_map(calls) {
                match command {
                    "fcall" | "fcall_ro" => {
                        reading.calls += calls;
                        reading.function_us += us;
                    }
                    // The query of this reading.
                    "info" => {}
                    _ => reading.inner_calls += calls,
                }
            }
        }
        Ok(reading)
    }

    pub(super) async fn settings(&mut self) -> anyhow::Result<BTreeMap<&'static str, Value>> {
        let mut settings = BTreeMap::new();
        let infos = self.ask_all::<String>(cmd("INFO").arg("server")).await?;
        if let Some(info) = infos.first() {
            let version = field(info, "valkey_version").map(|version| format!("Valkey {version}"));
            let version = version.or_else(|| field(info, "redis_version").map(|version| format!("Redis {version}")));
            settings.insert("server", version.into());
        }
        settings.insert("primaries", infos.len().into());
        // A server may refuse to show its settings.
        let config = self.ask_all::<Vec<String>>(cmd("CONFIG").arg("GET").arg("append*")).await.unwrap_or_default();
        let config = config.first().map(Vec::as_slice).unwrap_or_default();
        let set = |name: &str| config.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1].as_str());
        let durability = match (set("appendonly"), set("appendfsync")) {
            (Some("yes"), Some(fsync)) => format!("append-only file, fsync {fsync}"),
            (Some(_), _) => "no append-only file".to_owned(),
            (None, _) => "not told".to_owned(),
        };
        settings.insert("durability", durability.into());
        settings.insert("server_time", "processor time of the primaries, by INFO cpu".into());
        Ok(settings)
    }
}

/// Returns a field of `INFO`.
fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// Parses a line about a command: its name, the number of calls, and their microseconds.
fn calls(line: &str) -> Option<(&str, u64, u64)> {
    let (command, stats) = line.strip_prefix("cmdstat_")?.split_once(':')?;
    let stat = |name: &str| stats.split(',').find_map(|stat| stat.trim().strip_prefix(name)?.parse().ok());
    Some((command, stat("calls=")?, stat("usec=")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_account_of_itself_is_read() {
        let info = "# Memory\r\nused_memory:1234\r\nused_memory_rss:99\r\n# Commandstats\r\n\
                    cmdstat_fcall:calls=7,usec=70,usec_per_call=10.00\r\ncmdstat_config|get:calls=2,usec=1\r\n";
        assert_eq!(field(info, "used_memory"), Some("1234"));
        let commands: Vec<_> = info.lines().filter_map(calls).collect();
        assert_eq!(commands, [("fcall", 7, 70), ("config|get", 2, 1)]);
    }
}
