//! `ff watch`: watches one execution until it ends, or all lanes and events until a signal stops it.

mod all;
mod one;

use std::time::Duration;

use clap::Args;

use crate::args::{IdArg, span};
use crate::exit::Exit;
use crate::settings::Settings;

/// Interval at which states are polled that no event reports.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Watch an execution until it ends; without an id, watch all lanes and events
#[derive(Args)]
pub(crate) struct Watch {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: Option<IdArg>,

    /// Maximum time to watch
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "id")]
    timeout: Option<Duration>,
}

impl Watch {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self.id {
            Some(id) => one::watch(settings, id, self.timeout).await,
            None => all::watch(settings).await,
        }
    }
}
