//! `ff dev`: an embedded store, its engine and a server in one process, for one machine.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use ff_sdk::{Connect, PublicUrl};
use ff_server::{CorsOrigin, ServerOptions};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::demo;
use crate::exit::Exit;
use crate::output;
use crate::serve::ServedStore;
use crate::serve::address;
use crate::settings::Settings;

/// Start a server with an embedded store, for one machine
#[derive(Args)]
pub(crate) struct Dev {
    /// Address to listen on; loopback only
    #[arg(long, value_name = "HOST:PORT", default_value = super::serve::LISTEN, value_parser = address)]
    listen: SocketAddr,

    /// Data directory
    #[arg(long, value_name = "DIR", default_value = ".flowfabric")]
    data: PathBuf,

    /// Public address of the server, with which approval links begin
    #[arg(long, value_name = "URL")]
    public_url: Option<PublicUrl>,

    /// Origin whose pages may read streams, such as https://app.example (repeatable)
    #[arg(long = "cors-origin", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origins: Vec<CorsOrigin>,

    /// Run a small worker and submit sample work
    #[arg(long)]
    demo: bool,
}

impl Dev {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let folder = self.data.display();
        std::fs::create_dir_all(&self.data).with_context(|| format!("cannot create {folder}"))?;
        let file = self.data.join("flowfabric.db");
        let file = file.to_str().with_context(|| format!("the name of {folder} is not text"))?;
        let store = format!("sqlite:{file}");
        let (public_url, cors_origins) = (self.public_url, self.cors_origins);
        let options = ServerOptions { public_url, cors_origins, ..ServerOptions::default() };
        let serving = ServedStore::start(Connect::to(&store), self.listen, None, options).await?;
        let server = serving.url();
        if settings.json {
            output::json(&json!({ "console": format!("{server}/"), "store": store, "server": server }))?;
        } else {
            output::line(greeting(&store, server))?;
        }
        let stopping = CancellationToken::new();
        let demo = self.demo.then(|| demo::start(serving.flowfabric(), settings, stopping.clone()));
        let demo_over = async {
            match demo {
                Some(demo) => demo.await.context("the demo broke off")?,
                None => Ok(()),
            }
        };
        serving.until_stopped(stopping, demo_over).await?;
        Ok(Exit::Done)
    }
}

/// Returns the text printed at the start: the console, the store, the server, and the commands to type next.
fn greeting(store: &str, server: &str) -> String {
    let elsewhere = if server.ends_with(super::serve::LISTEN) { String::new() } else { format!(" --server {server}") };
    [
        format!("FlowFabric {} is running", env!("CARGO_PKG_VERSION")),
        format!("  console {server}/"),
        format!("  store   {store}"),
        format!("  server  {server}"),
        String::new(),
        "In another terminal:".to_owned(),
        format!("  ff{elsewhere} worker --kind echo --exec cat"),
        format!("  ff{elsewhere} submit echo --payload '{{\"hi\":1}}' --wait"),
        String::new(),
        "Ctrl-C stops it; what was submitted stays.".to_owned(),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_comes_first() {
        let greeting = greeting("sqlite:a.db", "http://127.0.0.1:7070");
        assert_eq!(greeting.lines().nth(1), Some("  console http://127.0.0.1:7070/"));
    }

    #[test]
    fn the_greeting_says_what_to_type_for_this_very_server() {
        assert!(greeting("sqlite:a.db", "http://127.0.0.1:7070").contains("  ff submit echo"));
        assert!(
            greeting("sqlite:a.db", "http://127.0.0.1:81").contains("  ff --server http://127.0.0.1:81 submit echo")
        );
    }
}
