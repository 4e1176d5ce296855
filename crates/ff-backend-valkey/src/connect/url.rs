//! The URL of a store: `valkey://user:password@host:port/db?durability=fsync&partitions=64`.
//!
//! `valkeys` means TLS; `ca=FILE` trusts the certificates of a file instead of the system's. `+cluster` means a
//! cluster, for which several nodes may be given, separated by commas. `redis` and `rediss` mean the same.

use redis::{Client, ConnectionInfo, IntoConnectionInfo, TlsCertificates};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::link::tcp_settings;
use crate::{ConnectError, Durability};

/// The location of a store, and the settings in its URL.
#[derive(Clone)]
pub struct StoreLocation {
    /// One server, or some nodes of a cluster to begin with.
    pub(crate) nodes: Vec<ConnectionInfo>,
    pub(crate) cluster: bool,
    /// The scheme without `+cluster`.
    pub(crate) scheme: &'static str,
    pub(crate) durability: Option<Durability>,
    pub(crate) flow_partitions: Option<u16>,
    /// The certificate authorities to trust; those of the system when absent.
    pub(crate) trusted: Option<TlsCertificates>,
}

/// The schemes: name, scheme without `+cluster`, the client's name for it, and whether it is for a cluster.
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

impl StoreLocation {
    /// Parses a URL without connecting to anything.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        let bad = |why: &str| ConnectError::BadUrl { why: why.into() };
        let split = url.split_once("://");
        let known = split.and_then(|(scheme, rest)| Some((SCHEMES.iter().find(|(name, ..)| *name == scheme)?, rest)));
        let (&(_, scheme, client, cluster), rest) = known.ok_or_else(|| {
            bad("scheme: must be valkey:// or redis://, valkeys:// or rediss:// for TLS, each with +cluster for a cluster")
        })?;
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = at.split_once('/').unwrap_or((at, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), authority),
        };
        let hosts: Vec<_> = hosts.split(',').collect();
        if hosts.iter().any(|host| host.is_empty()) {
            return Err(bad("host: is missing, must be as in valkey://HOST:PORT"));
        }
        if hosts.len() > 1 && !cluster {
            return Err(bad("host: must be one, or several of a cluster as in valkey+cluster://HOST:PORT,HOST:PORT"));
        }
        if !path.is_empty() && path.parse::<i64>().is_err() {
            return Err(bad("database: must be a whole number, as in valkey://HOST:PORT/0"));
        }
        let mut place =
            Self { nodes: Vec::new(), cluster, scheme, durability: None, flow_partitions: None, trusted: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            place.set(pair).map_err(|why| bad(&why))?;
        }
        for host in hosts {
            let info = format!("{client}://{user}{host}/{path}").into_connection_info();
            let mut info = info.map_err(|_| {
                bad("host: cannot be read, must be HOST:PORT, after USER:PASSWORD@ with special characters percent-encoded")
            })?;
            if let Some(trusted) = &place.trusted {
                let client = Client::build_with_tls(info, trusted.clone());
                info = client
                    .map_err(|_| {
                        bad("ca: holds a certificate that cannot be read, must be a PEM file of certificates")
                    })?
                    .get_connection_info()
                    .clone();
            }
            place.nodes.push(info.set_tcp_settings(tcp_settings()));
        }
        Ok(place)
    }

    /// Returns the connection settings of the server, or of some nodes of a cluster.
    pub fn nodes(&self) -> &[ConnectionInfo] {
        &self.nodes
    }

    /// Returns whether the URL is for a cluster.
    pub fn is_cluster(&self) -> bool {
        self.cluster
    }

    fn set(&mut self, pair: &str) -> Result<(), String> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (name, value, value.parse()) {
            ("durability", "server", _) => self.durability = Some(Durability::Server),
            ("durability", "fsync", _) => self.durability = Some(Durability::Fsync),
            ("durability", ..) => return Err("durability: must be server or fsync".into()),
            ("partitions", _, Ok(count @ 1..)) => self.flow_partitions = Some(count),
            ("partitions", ..) => return Err("partitions: must be a whole number from 1 to 65535".into()),
            ("ca", ..) if matches!(self.scheme, "valkey" | "redis") => {
                return Err("ca: needs TLS, as in valkeys://HOST:PORT?ca=FILE".into());
            }
            ("ca", file, _) => {
                let read = std::fs::read(file).map_err(|error| {
                    format!("ca: {file} cannot be read ({error}), must be a PEM file of certificates")
                })?;
                if CertificateDer::pem_slice_iter(&read).next().is_none_or(|first| first.is_err()) {
                    return Err(format!("ca: {file} holds no certificate, must be a PEM file of certificates"));
                }
                self.trusted = Some(TlsCertificates { client_tls: None, root_cert: Some(read) });
            }
            // The message does not repeat the parameter's name, which may be part of a password that contains `?`.
            _ => return Err("parameters: must be durability=server or fsync, partitions=NUMBER or ca=FILE".into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_where_the_store_is_and_how_to_use_it() {
        let place =
            StoreLocation::parse("valkeys://me:p%40ss@example.org:7000/2?durability=fsync&partitions=64").unwrap();
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
        let place = StoreLocation::parse("redis+cluster://:secret@a:1,b:2,[::1]:3").unwrap();
        let places: Vec<_> = place.nodes.iter().map(|node| node.addr().to_string()).collect();
        assert_eq!(
            (places, place.cluster, place.scheme),
            (["a:1", "b:2", "::1:3"].map(String::from).to_vec(), true, "redis")
        );
        assert!(place.nodes.iter().all(|node| node.redis_settings().password() == Some("secret")));
    }

    #[test]
    fn a_bad_url_is_refused_with_its_part_and_the_allowed_values() {
        let scheme =
            "scheme: must be valkey:// or redis://, valkeys:// or rediss:// for TLS, each with +cluster for a cluster";
        let missing = "host: is missing, must be as in valkey://HOST:PORT";
        let parameters = "parameters: must be durability=server or fsync, partitions=NUMBER or ca=FILE";
        let unread =
            "host: cannot be read, must be HOST:PORT, after USER:PASSWORD@ with special characters percent-encoded";
        let own = concat!("valkeys://u:hunter2@a:1?ca=", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        for (url, why) in [
            ("valkey", scheme),
            ("valkey:u:hunter2@a:1", scheme),
            ("http://u:hunter2@a:1", scheme),
            ("valkey://", missing),
            ("valkey://u:hunter2@", missing),
            ("valkey+cluster://:hunter2@a:1,,b:2", missing),
            (
                "valkey://u:hunter2@a:1,b:2",
                "host: must be one, or several of a cluster as in valkey+cluster://HOST:PORT,HOST:PORT",
            ),
            ("valkey://u:hunter2@a:port", unread),
            ("valkey://u:hunter2@a:99999", unread),
            ("valkey://u:hunter2", unread),
            ("valkey://u:hunter2@a:1/db", "database: must be a whole number, as in valkey://HOST:PORT/0"),
            ("valkey://u:hunter2@a:1?durability=none", "durability: must be server or fsync"),
            ("valkey://u:hunter2@a:1?partitions=0", "partitions: must be a whole number from 1 to 65535"),
            ("valkey://u:hunter2@a:1?partitions=65536", "partitions: must be a whole number from 1 to 65535"),
            ("valkey://a:1?password=hunter2", parameters),
            ("valkey://u:a?hunter2@a:1", parameters),
            (
                "valkeys://u:hunter2@a:1?ca=/nowhere",
                "ca: /nowhere cannot be read (No such file or directory (os error 2)), must be a PEM file of certificates",
            ),
            (&own.replace("valkeys", "valkey"), "ca: needs TLS, as in valkeys://HOST:PORT?ca=FILE"),
            (
                own,
                concat!(
                    "ca: ",
                    env!("CARGO_MANIFEST_DIR"),
                    "/Cargo.toml holds no certificate, must be a PEM file of certificates"
                ),
            ),
        ] {
            let Err(error) = StoreLocation::parse(url) else { panic!("{url} was taken") };
            assert_eq!(error.to_string(), why, "{url}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
