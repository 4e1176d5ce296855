//! Where a store is, as people write it: `valkey://user:password@host:port/db?durability=fsync&partitions=64`.
//!
//! `valkeys` is TLS, with `ca=FILE` by certificates of one's own instead of the system's; `+cluster` a cluster, of which
//! several nodes may be named with commas between. `redis` and `rediss` stand for the same.

use redis::{Client, ConnectionInfo, IntoConnectionInfo, TlsCertificates};

use crate::link::tcp_settings;
use crate::{ConnectError, Durability};

/// Where a store is, and what the URL says about using it.
#[derive(Clone)]
pub struct Place {
    /// One server, or nodes of a cluster to begin with.
    pub(crate) nodes: Vec<ConnectionInfo>,
    pub(crate) cluster: bool,
    /// The scheme without `+cluster`.
    pub(crate) scheme: &'static str,
    pub(crate) durability: Option<Durability>,
    pub(crate) flow_partitions: Option<u16>,
    /// Who may vouch for a server; whom the system trusts when not said.
    pub(crate) trusted: Option<TlsCertificates>,
}

/// Schemes, what the client calls them, and whether they are for a cluster.
const SCHEMES: &[(&str, &str, &str, bool)] = &[
    ("valkey", "valkey", "redis", false),
    ("valkeys", "valkeys", "rediss", false),
    ("valkey+cluster", "valkey", "redis", true),
    ("valkeys+cluster", "valkeys", "rediss", true),
    ("redis", "redis", "redis", false),
    ("rediss", "rediss", "rediss", false),
    ("redis+cluster", "redis", "redis", true),
    ("rediss+cluster", "rediss", "rediss", true),
];

impl Place {
    /// Reads a URL without connecting to anything.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        let bad = |why: &str| ConnectError::BadUrl { url: without_password(url), why: why.into() };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| bad("expected valkey://HOST:PORT"))?;
        let known = SCHEMES.iter().find(|(name, ..)| *name == scheme);
        let (_, scheme, client, cluster) = *known.ok_or_else(|| bad("expected valkey://, valkeys:// or +cluster"))?;
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = at.split_once('/').unwrap_or((at, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), authority),
        };
        let hosts: Vec<_> = hosts.split(',').collect();
        if hosts.iter().any(|host| host.is_empty()) {
            return Err(bad("names no host"));
        }
        if hosts.len() > 1 && !cluster {
            return Err(bad("names several hosts, which is for +cluster"));
        }
        let mut place =
            Self { nodes: Vec::new(), cluster, scheme, durability: None, flow_partitions: None, trusted: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            place.set(pair).map_err(|why| bad(&why))?;
        }
        for host in hosts {
            let info = format!("{client}://{user}{host}/{path}").into_connection_info();
            let mut info = info.map_err(|error| bad(error.detail().unwrap_or("it cannot be read")))?;
            if let Some(trusted) = &place.trusted {
                let client = Client::build_with_tls(info, trusted.clone());
                info = client.map_err(|_| bad("ca= needs certificates, and valkeys://"))?.get_connection_info().clone();
            }
            place.nodes.push(info.set_tcp_settings(tcp_settings()));
        }
        Ok(place)
    }

    /// How the server is reached; of a cluster, some of its nodes.
    pub fn nodes(&self) -> &[ConnectionInfo] {
        &self.nodes
    }

    /// Whether the URL is for a cluster.
    pub fn is_cluster(&self) -> bool {
        self.cluster
    }

    fn set(&mut self, pair: &str) -> Result<(), String> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (name, value, value.parse()) {
            ("durability", "server", _) => self.durability = Some(Durability::Server),
            ("durability", "fsync", _) => self.durability = Some(Durability::Fsync),
            ("partitions", _, Ok(count @ 1..)) => self.flow_partitions = Some(count),
            ("ca", file, _) => {
                let read = std::fs::read(file).map_err(|error| format!("{file:?} cannot be read: {error}"))?;
                self.trusted = Some(TlsCertificates { client_tls: None, root_cert: Some(read) });
            }
            _ => return Err("knows only durability=server or fsync, partitions=NUMBER and ca=FILE".into()),
        }
        Ok(())
    }
}

/// A URL as it may appear in a message.
fn without_password(url: &str) -> String {
    let Some((before, place)) = url.rsplit_once('@') else { return url.into() };
    let scheme = before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
    format!("{scheme}***@{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_where_the_store_is_and_how_to_use_it() {
        let place = Place::parse("valkeys://me:p%40ss@example.org:7000/2?durability=fsync&partitions=64").unwrap();
        let node = &place.nodes[0];
        assert_eq!(node.addr().to_string(), "example.org:7000");
        assert_eq!(node.redis_settings().username(), Some("me"));
        assert_eq!(node.redis_settings().password(), Some("p@ss"));
        assert_eq!(node.redis_settings().db(), 2);
        assert!(node.tcp_settings().nodelay() && node.tcp_settings().keepalive().is_some() && !place.cluster);
        assert_eq!((place.durability, place.flow_partitions), (Some(Durability::Fsync), Some(64)));
    }

    #[test]
    fn a_cluster_may_be_named_by_several_nodes() {
        let place = Place::parse("redis+cluster://:secret@a:1,b:2,[::1]:3").unwrap();
        let places: Vec<_> = place.nodes.iter().map(|node| node.addr().to_string()).collect();
        assert_eq!(
            (places, place.cluster, place.scheme),
            (["a:1", "b:2", "::1:3"].map(String::from).to_vec(), true, "redis")
        );
        assert!(place.nodes.iter().all(|node| node.redis_settings().password() == Some("secret")));
    }

    #[test]
    fn a_url_that_names_no_server_is_refused_without_its_password() {
        for url in [
            "valkey",
            "valkey:u:hunter2@a:1",
            "http://u:hunter2@a:1",
            "valkey://",
            "valkey://u:hunter2@",
            "valkey://u:hunter2@a:1,b:2",
            "valkey://u:hunter2@a:port",
            "valkey://u:hunter2@a:1?durability=none",
            "valkey://u:hunter2@a:1?partitions=0",
            "valkey://u:hunter2@a:1/db",
            "valkeys://u:hunter2@a:1?ca=/nowhere",
            concat!("valkey://u:hunter2@a:1?ca=", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ] {
            let Err(error) = Place::parse(url) else { panic!("{url} was taken") };
            let line = error.to_string();
            assert!(!line.contains("hunter2") && !line.contains('\n'), "{line}");
        }
    }
}
