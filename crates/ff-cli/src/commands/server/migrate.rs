//! `ff migrate`: migrates a database to the schema of this program.

use clap::Args;
use ff_backend_postgres::{MigrationReport, PostgresOptions, migrate};
use ff_sdk::Target;
use ff_sdk::store_url::without_password;
use serde_json::json;

use crate::exit::{Exit, Usage};
use crate::output;
use crate::settings::Settings;

/// Create or update the tables of a store; servers also do this when they start, if they are allowed to
#[derive(Args)]
pub(crate) struct Migrate {
    /// Store: postgres://HOST/DATABASE
    #[arg(long, env = "FF_STORE", value_name = "URL")]
    store: String,
}

impl Migrate {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        if Target::parse(&self.store)? != Target::Postgres {
            return Err(
                Usage("--store: must be postgres://HOST/DATABASE; other stores need no migration".into()).into()
            );
        }
        let migrated = migrate(&self.store, PostgresOptions::default()).await;
        let MigrationReport { from, to } = migrated.map_err(ff_sdk::ConnectError::from)?;
        let store = without_password(&self.store);
        let before = if from == to { "already".to_owned() } else { format!("now, and had {from}") };
        settings.answer(&json!({ "store": store, "from": from, "to": to }), || {
            output::line(format_args!("{store} has version {to} {before}"))
        })
    }
}
