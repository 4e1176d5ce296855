//! Making connections, with the settings every one of them has.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Socket};

use crate::ConnectError;
use crate::connection::{Connection, Meter};
use crate::driver_error::{DriverError, message_of};
use crate::tls::TlsChannel;
use crate::url::StoreLocation;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a network may leave what was sent unacknowledged.
const SILENCE: Duration = Duration::from_secs(10);

/// The settings of every connection.
///
/// Statements are planned once and each has one good plan, by an index. Without these settings, a server that has not
/// counted its rows yet would read small tables whole, and go on doing so while they grow. A statement that hangs is
/// given up.
const SETTINGS: &[(&str, &str)] = &[
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("jit", "off"),
    ("statement_timeout", "30s"),
];

/// The `application_name` of a connection.
pub(crate) const WRITER: &str = "writer";
pub(crate) const READER: &str = "reader";

/// Makes connections to one store.
pub(crate) struct Connector {
    pub(crate) place: StoreLocation,
    pub(crate) meter: Arc<Meter>,
}

impl Connector {
    pub(crate) fn new(place: StoreLocation) -> Self {
        Self { place, meter: Arc::default() }
    }

    /// A connection for statements.
    pub(crate) async fn open(&self, purpose: &str) -> Result<Connection, DriverError> {
        let (client, conversation) = self.converse(purpose).await?;
        tokio::spawn(async move {
            if let Err(error) = conversation.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
        Ok(Connection::new(client, self.meter.clone()))
    }

    /// A connection, and the future that drives it.
    pub(crate) async fn converse(
        &self,
        purpose: &str,
    ) -> Result<(Client, tokio_postgres::Connection<Socket, TlsChannel>), DriverError> {
        let mut config = self.place.config.clone();
        config.application_name(format!("flowfabric {purpose}"));
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(SILENCE);
        if self.place.listen {
            let said = config.get_options().unwrap_or_default().to_owned();
            let ours = self.settings(purpose).map(|(name, value)| format!(" -c {name}={value}"));
            config.options(said + &ours.collect::<String>());
        }
        match timeout(2 * CONNECT_TIMEOUT, config.connect(self.place.tls.clone())).await {
            Ok(connected) => connected.map_err(|error| DriverError::of(&error)),
            Err(_) => Err(DriverError::Lost("the server did not let us in in time".into())),
        }
    }

    /// The first statement of every transaction behind a pooler: it may have any of its connections do
    /// the next one, so settings hold for one transaction only.
    pub(crate) fn settle(&self, purpose: &str) -> Option<String> {
        if self.place.listen {
            return None;
        }
        let set = self.settings(purpose).map(|(name, value)| format!("set_config('{name}', '{value}', true)"));
        Some(format!("SELECT {}", set.collect::<Vec<_>>().join(", ")))
    }

    fn settings(&self, purpose: &str) -> impl Iterator<Item = (&str, &str)> {
        // A program that hangs in a transaction is cut off: a writer soon, since others wait for its locks, a reader only
        // before it keeps the server from tidying up.
        let patience = if purpose == WRITER { "5s" } else { "5min" };
        let ours = [("idle_in_transaction_session_timeout", patience), ("search_path", self.place.schema.as_str())];
        SETTINGS.iter().copied().chain(ours)
    }
}

/// Why a statement failed that a store needs in order to be opened.
pub(crate) fn failed(place: &StoreLocation, error: &tokio_postgres::Error) -> ConnectError {
    let (address, why) = (place.address(), message_of(error));
    match error.code() {
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => ConnectError::NotAllowed { address, why },
        _ => ConnectError::Server { address, why },
    }
}
