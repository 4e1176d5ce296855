//! The URL of a store: `postgres://user:password@host:port/database?schema=flowfabric&writers=4`.
//!
//! Parameters other than the store's own settings are left to the Postgres client, as in other programs.

use std::net::IpAddr;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};

use super::connection::drive;
use super::tls::Tls;
use crate::ConnectError;

/// The default schema of a store's tables.
pub(crate) const SCHEMA: &str = "flowfabric";
/// Maximum length of a schema's name, so that names derived from it still fit.
const SCHEMA_BYTES: usize = 48;
/// Maximum number of writers by default.
const WRITERS_MAX: usize = 4;
const READERS: usize = 8;

/// The location of a store, and the settings in its URL.
#[derive(Clone)]
pub struct StoreLocation {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    pub(crate) schema: String,
    pub(crate) flow_partitions: Option<u16>,
    pub(crate) writers: usize,
    pub(crate) readers: usize,
    pub(crate) listen: bool,
    /// Whether writers keep records from one batch to the next while they hold the locks of their partitions.
    pub(crate) record_cache: bool,
}

/// The TLS setting of the URL.
enum Privacy {
    /// TLS, unless the server is on this machine.
    Usual,
    Plain,
    Tls,
}

impl StoreLocation {
    /// Parses a URL without connecting.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        Self::read(url).map_err(|why| ConnectError::BadUrl { why })
    }

    /// Returns the number of writing connections.
    pub fn writers(&self) -> usize {
        self.writers
    }

    /// Opens a connection to the database for the caller's own use, with the login and TLS settings of the store's connections.
    pub async fn connect(&self) -> Result<Client, ConnectError> {
        let unreachable =
            |error| ConnectError::Unreachable { address: self.address(), why: super::driver_error::message_of(&error) };
        let (client, conversation) = self.config.connect(self.tls.clone()).await.map_err(unreachable)?;
        drive(conversation);
        Ok(client)
    }

    /// Returns the schema of the tables.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns the server's address for messages.
    pub(crate) fn address(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        let ports = self.config.get_ports();
        let port = |nth: usize| ports.get(nth).or(ports.first()).copied().unwrap_or(5432);
        let named: Vec<_> = hosts.enumerate().map(|(nth, host)| format!("{host}:{}", port(nth))).collect();
        named.join(",")
    }

    fn read(url: &str) -> Result<Self, String> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err("scheme: must be that of postgres://HOST/DATABASE".into());
        }
        let (at, query) = url.split_once('?').unwrap_or((url, ""));
        let mut place = Self {
            config: Config::new(),
            tls: Tls::default(),
            schema: SCHEMA.into(),
            flow_partitions: None,
            writers: writers(),
            readers: READERS,
            listen: true,
            record_cache: true,
        };
        let (mut privacy, mut theirs) = (Privacy::Usual, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if !place.set(pair, &mut privacy)? {
                theirs.push(pair);
            }
        }
        let rest = if theirs.is_empty() { at.to_owned() } else { format!("{at}?{}", theirs.join("&")) };
        place.config = rest.parse().map_err(|error| explain(&error, query.contains('@')))?;
        if place.config.get_hosts().is_empty() {
            return Err("host: is missing, must be as in postgres://HOST/DATABASE".into());
        }
        let encrypted = match privacy {
            Privacy::Usual => !place.config.get_hosts().iter().all(is_here),
            Privacy::Plain => false,
            Privacy::Tls => true,
        };
        place.config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(place)
    }

    /// Applies a setting of the store. Returns false for one of the client's.
    fn set(&mut self, pair: &str, privacy: &mut Privacy) -> Result<bool, String> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (name, value) {
            ("schema", _) => self.schema = schema(value)?,
            ("partitions", _) => self.flow_partitions = Some(number(name, value)?),
            ("writers", _) => self.writers = usize::from(number(name, value)?),
            ("readers", _) => self.readers = usize::from(number(name, value)?),
            ("listen", _) => self.listen = switch(name, value)?,
            ("record_cache", _) => self.record_cache = switch(name, value)?,
            ("sslmode", "disable") => *privacy = Privacy::Plain,
            ("sslmode", "require" | "verify-full") => *privacy = Privacy::Tls,
            ("sslmode", _) => {
                return Err(
                    "sslmode: must be disable, require or verify-full; others could turn TLS off otherwise".into()
                );
            }
            ("ca", file) => self.tls = Tls::trusting(file)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the name of a schema if it can stand unquoted in a statement.
pub(crate) fn schema(name: &str) -> Result<String, String> {
    let fits =
        !name.is_empty() && name.len() <= SCHEMA_BYTES && !name.starts_with(|first: char| first.is_ascii_digit());
    if fits && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
        return Ok(name.into());
    }
    Err(format!("schema: must be at most {SCHEMA_BYTES} of a to z, 0 to 9 and _, and not begin with a digit"))
}

fn switch(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{name}: must be on or off")),
    }
}

fn number(name: &str, value: &str) -> Result<u16, String> {
    value
        .parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| format!("{name}: must be a whole number from 1 to 65535"))
}

/// Returns whether a server is on this machine, so that the connection cannot be overheard.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Returns the message about the part of a URL that the client refuses, with the allowed values. A parameter's name is left out
/// if it may be part of a password that has an `@` and a `?` in it.
fn explain(error: &tokio_postgres::Error, is_secret: bool) -> String {
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let name = why.split('`').nth(1).filter(|_| !is_secret);
    let allowed = match name {
        Some("port") => "a whole number from 1 to 65535",
        Some("host") => "a name, an IPv4 address, or an IPv6 address in brackets",
        Some("hostaddr") => "an IP address",
        Some("target_session_attrs") => "any, read-write or read-only",
        Some("channel_binding") => "disable, prefer or require",
        Some("load_balance_hosts") => "disable or random",
        Some("sslnegotiation") => "postgres or direct",
        Some(name) if why.starts_with("unknown option") => {
            return format!(
                "{name}: is no parameter, must be schema, partitions, writers, readers, listen, record_cache, sslmode, ca or one of libpq's"
            );
        }
        Some(_) => "a whole number",
        None => "postgres://USER:PASSWORD@HOST:PORT/DATABASE?NAME=VALUE, with special characters percent-encoded",
    };
    format!("{}: must be {allowed}", name.unwrap_or("URL"))
}

/// Returns one writer per core, at most [`WRITERS_MAX`]. More writers than cores would only make their batches smaller.
fn writers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(WRITERS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_where_the_store_is_and_how_to_use_it() {
        let url = "postgres://me:p%40ss@example.org:6000/jobs?schema=ff_2&partitions=64&writers=2&readers=3&listen=off";
        let place = StoreLocation::parse(url).unwrap();
        assert_eq!((place.address().as_str(), place.schema.as_str()), ("example.org:6000", "ff_2"));
        assert_eq!((place.config.get_user(), place.config.get_password()), (Some("me"), Some(&b"p@ss"[..])));
        assert_eq!(place.config.get_dbname(), Some("jobs"));
        assert_eq!((place.flow_partitions, place.writers, place.readers, place.listen), (Some(64), 2, 3, false));
    }

    #[test]
    fn client_parameters_in_the_url_are_parsed_by_the_client() {
        let place = StoreLocation::parse("postgresql://a,b/x?target_session_attrs=read-write&writers=1").unwrap();
        assert_eq!((place.address().as_str(), place.writers), ("a:5432,b:5432", 1));
        assert!(StoreLocation::parse("postgres://a/x?no_such_setting=1").is_err());
    }

    #[test]
    fn a_remote_server_requires_tls_by_default() {
        let mode = |url: &str| StoreLocation::parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgres://example.org/x"), SslMode::Require);
        assert_eq!(mode("postgres://example.org/x?sslmode=disable"), SslMode::Disable);
        for here in ["localhost", "127.0.0.1", "%2Fvar%2Frun%2Fpostgresql"] {
            assert_eq!(mode(&format!("postgres://{here}/x")), SslMode::Disable);
            assert_eq!(mode(&format!("postgres://{here}/x?sslmode=require")), SslMode::Require);
        }
    }

    #[test]
    fn a_bad_url_is_refused_with_its_part_and_the_allowed_values() {
        let missing = "host: is missing, must be as in postgres://HOST/DATABASE";
        let whole = "URL: must be postgres://USER:PASSWORD@HOST:PORT/DATABASE?NAME=VALUE, with special characters \
                     percent-encoded";
        let schema = "schema: must be at most 48 of a to z, 0 to 9 and _, and not begin with a digit";
        for (url, why) in [
            ("mysql://u:hunter2@a/x", "scheme: must be that of postgres://HOST/DATABASE"),
            ("postgres://u:hunter2@/x", missing),
            ("postgres://", missing),
            ("postgres://u:hunter2@a:port/x", "port: must be a whole number from 1 to 65535"),
            ("postgres://u:hunter2", "port: must be a whole number from 1 to 65535"),
            ("postgres://u:hunter2@[::1/x", "host: must be a name, an IPv4 address, or an IPv6 address in brackets"),
            ("postgres://u:hunter2@a/x?writers=0", "writers: must be a whole number from 1 to 65535"),
            ("postgres://u:hunter2@a/x?readers=many", "readers: must be a whole number from 1 to 65535"),
            ("postgres://u:hunter2@a/x?partitions=65536", "partitions: must be a whole number from 1 to 65535"),
            ("postgres://u:hunter2@a/x?schema=Robert'); DROP", schema),
            (
                "postgres://u:hunter2@a/x?sslmode=prefer",
                "sslmode: must be disable, require or verify-full; others could turn TLS off otherwise",
            ),
            ("postgres://u:hunter2@a/x?listen=maybe", "listen: must be on or off"),
            (
                "postgres://u:hunter2@a/x?ca=/nowhere",
                "ca: /nowhere cannot be read (I/O error: No such file or directory (os error 2)), must be a PEM file of certificates",
            ),
            ("postgres://a/x?password=hunter2&writers=0", "writers: must be a whole number from 1 to 65535"),
            ("postgres://a/x?connect_timeout=soon", "connect_timeout: must be a whole number"),
            ("postgres://a/x?target_session_attrs=x", "target_session_attrs: must be any, read-write or read-only"),
            (
                "postgres://a/x?pasword=hunter2",
                "pasword: is no parameter, must be schema, partitions, writers, readers, listen, record_cache, sslmode, ca or one of \
                 libpq's",
            ),
            ("postgres://u:a@b?hunter2=c@a/x", whole),
            ("postgres://%ff:hunter2@a/x", whole),
        ] {
            let Err(error) = StoreLocation::parse(url) else { panic!("{url} was taken") };
            assert_eq!(error.to_string(), why, "{url}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
