//! Opens connections with the settings that all of them share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Socket};

use super::connection::{Connection, Meter, drive};
use super::driver_error::{DriverError, message_of};
use super::tls::TlsChannel;
use super::url::StoreLocation;
use crate::ConnectError;

/// Maximum time for the server to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time that sent data may stay unacknowledged by the network.
const SILENCE: Duration = Duration::from_secs(10);

/// The settings of every connection.
///
/// Each statement is planned once and has one good plan, which uses an index. Without these settings, a server without table
/// statistics would plan to read small tables whole, and would keep that plan while they grow. The server cancels a statement
/// that hangs.
const SETTINGS: &[(&str, &str)] = &[
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("jit", "off"),
    ("statement_timeout", "30s"),
];

/// Purpose of a connection, the last word of its `application_name`.
pub(crate) const WRITER: &str = "writer";
pub(crate) const READER: &str = "reader";

/// Opener of connections to one store.
pub(crate) struct Connector {
    pub(crate) place: StoreLocation,
    pub(crate) meter: Arc<Meter>,
}

impl Connector {
    pub(crate) fn new(place: StoreLocation) -> Self {
        Self { place, meter: Arc::default() }
    }

    /// Opens a connection for statements.
    pub(crate) async fn open(&self, purpose: &str) -> Result<Connection, DriverError> {
        let (client, conversation) = self.converse(purpose).await?;
        drive(conversation);
        Ok(Connection::new(client, self.meter.clone()))
    }

    /// Connects, and returns the client with the future that drives the connection.
    pub(crate) async fn converse(
        &self,
        purpose: &str,
    ) -> Result<(Client, tokio_postgres::Connection<Socket, TlsChannel>), DriverError> {
        let mut config = self.place.config.clone();
        config.application_name(format!("flowfabric {purpose}"));
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(SILENCE);
        if self.place.listen {
            let options = config.get_options().unwrap_or_default().to_owned();
            let ours = self.settings(purpose).map(|(name, value)| format!(" -c {name}={value}"));
            config.options(options + &ours.collect::<String>());
        }
        match timeout(2 * CONNECT_TIMEOUT, config.connect(self.place.tls.clone())).await {
            Ok(connected) => connected.map_err(|error| DriverError::of(&error)),
            Err(_) => Err(DriverError::Lost("the server did not accept the connection in time".into())),
        }
    }

    /// Returns the first statement of every transaction behind a pooler. A pooler may run the next transaction on another
    /// connection, so settings hold for one transaction only.
    pub(crate) fn settle(&self, purpose: &str) -> Option<String> {
        if self.place.listen {
            return None;
        }
        let set = self.settings(purpose).map(|(name, value)| format!("set_config('{name}', '{value}', true)"));
        Some(format!("SELECT {}", set.collect::<Vec<_>>().join(", ")))
    }

    fn settings(&self, purpose: &str) -> impl Iterator<Item = (&str, &str)> {
        // The server disconnects a program that hangs in a transaction: a writer soon, because others wait for its locks; any
        // other connection before it holds up vacuum.
        let patience = if purpose == WRITER { "5s" } else { "5min" };
        let ours = [("idle_in_transaction_session_timeout", patience), ("search_path", self.place.schema.as_str())];
        SETTINGS.iter().copied().chain(ours)
    }
}

/// Returns the error of a failed statement that opening a store needs.
pub(crate) fn failed(place: &StoreLocation, error: &tokio_postgres::Error) -> ConnectError {
    let (address, why) = (place.address(), message_of(error));
    match error.code() {
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => ConnectError::NotAllowed { address, why },
        _ => ConnectError::Server { address, why },
    }
}
