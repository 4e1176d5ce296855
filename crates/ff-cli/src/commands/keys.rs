//! `ff keys`: creates, lists and revokes the API keys of a deployment.

use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use ff_api::NewKey;
use ff_core::api_key::{KeyInfo, Role, SecretKey};
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::backend::entropy::SystemEntropy;
use ff_core::contracts::{CreateKeyArgs, CreatedKey, KeysPage, ListKeysArgs};
use ff_core::limits;
use ff_core::types::{KeyId, KeyName, TimestampMs};
use ff_sdk::{Client, Connect, FlowFabric, Target};

use crate::args::{every_page, span};
use crate::exit::{Exit, Usage, print_message};
use crate::output::{self, Table};
use crate::settings::Settings;

/// Create, list or revoke API keys
#[derive(Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,

    /// Use this store directly, such as postgres://HOST/DATABASE; no other process may have a file open
    #[arg(long, global = true, value_name = "URL", value_parser = super::server::store)]
    store: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    Create(Create),
    /// List all keys ever created, without their secrets
    List,
    Revoke(Revoke),
}

/// Create a key and print it once; only its hash is stored
#[derive(Args)]
struct Create {
    /// Name of the key
    #[arg(long, value_name = "NAME")]
    name: KeyName,

    /// Role of the key: submit, work, signal, operate or admin (repeatable)
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<Role>,

    /// Make the key valid for all namespaces; requires the role operate, and is implied by admin
    #[arg(long)]
    every_namespace: bool,

    /// How long the key is valid, such as 90d; unless given, forever
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    expires: Option<Duration>,
}

/// Revoke a key; all servers refuse it within seconds
#[derive(Args)]
struct Revoke {
    /// Id of the key: the part between its underscores
    #[arg(value_name = "ID")]
    id: KeyId,
}

impl Keys {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = match &self.store {
            Some(store) => open(store).await?,
            None => settings.connect().await?,
        };
        let client = flowfabric.client();
        let done = match self.command {
            Command::Create(create) => create.run(settings, &client).await,
            Command::List => list(settings, &client).await,
            Command::Revoke(revoke) => revoke.run(settings, &client).await,
        };
        flowfabric.shutdown().await;
        done
    }
}

async fn open(store: &str) -> anyhow::Result<FlowFabric> {
    if Target::parse(store)? == Target::Memory {
        return Err(Usage("--store: is memory:, which keeps no keys; must be a file or a database".into()).into());
    }
    Ok(Connect::to(store).without_engine().connect().await?)
}

impl Create {
    async fn run(self, settings: &Settings, client: &Client) -> anyhow::Result<Exit> {
        let key = SecretKey::draw(&SystemEntropy);
        let of_all = self.every_namespace || (self.roles.contains(&Role::Admin) && settings.namespace().is_default());
        let args = CreateKeyArgs {
            key_id: key.id().clone(),
            name: self.name,
            secret_hash: key.hash(),
            roles: self.roles.into_iter().collect(),
            namespace: Some(settings.namespace()).filter(|_| !of_all),
            ttl_ms: self.expires.map(span::ms),
        };
        args.check().map_err(|refusal| anyhow!(Usage(refusal.to_string())))?;
        let created = client.create_key(args).await?;
        settings.answer(&NewKey::of(created.clone(), Some(&key)), || {
            output::line(key.expose())?;
            tell_holder(&created);
            Ok(())
        })
    }
}

/// Prints notes about the key on standard error, so that standard output contains only the key.
fn tell_holder(created: &CreatedKey) {
    let key = &created.key;
    let until = key
        .expires_at
        .map_or("never expires".to_owned(), |at| format!("expires {}", span::relative(at, key.created_at)));
    print_message(format_args!("key {} may {} in {} and {until}", key.key_id, roles(key), namespace(key)));
    print_message("it is shown this once and kept nowhere; give it to its holder, who puts it into FF_API_KEY");
    print_message("a server that was started before the first key was created asks for keys once it is started again");
}

async fn list(settings: &Settings, client: &Client) -> anyhow::Result<Exit> {
    let read = async |after| {
        let page = client.keys(ListKeysArgs { after, limit: limits::PAGE }).await?;
        Ok((page.keys, page.next))
    };
    let page = KeysPage { keys: every_page(None, read).await?, next: None };
    settings.answer(&page, || tabulate(&page.keys, SystemClock.now()).print())
}

impl Revoke {
    async fn run(self, settings: &Settings, client: &Client) -> anyhow::Result<Exit> {
        let revoked = client.revoke_key(self.id.clone()).await?;
        let before = if revoked.already { "was revoked before" } else { "is revoked" };
        settings.answer(&revoked, || output::line(format_args!("key {} {before}", self.id)))
    }
}

fn tabulate(keys: &[KeyInfo], now: TimestampMs) -> Table {
    let mut table = Table::new(&["ID", "NAME", "ROLES", "NAMESPACE", "STATE", "CREATED"]);
    for key in keys {
        table.row([
            key.key_id.to_string(),
            key.name.to_string(),
            roles(key),
            namespace(key),
            state(key, now),
            span::relative(key.created_at, now),
        ]);
    }
    table
}

fn state(key: &KeyInfo, now: TimestampMs) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {}", span::relative(at, now)),
        (None, Some(at)) if key.has_expired(now) => format!("expired {}", span::relative(at, now)),
        (None, Some(at)) => format!("expires {}", span::relative(at, now)),
        (None, None) => "valid".to_owned(),
    }
}

fn roles(key: &KeyInfo) -> String {
    let names: Vec<_> = key.roles.iter().map(|role| role.as_str()).collect();
    names.join(",")
}

fn namespace(key: &KeyInfo) -> String {
    key.namespace.as_ref().map_or("every namespace".to_owned(), |namespace| namespace.to_string())
}
