//! `ff config`: the settings in force, and their sources.

use clap::Args;
use serde_json::json;

use crate::config::{self, TypedCommand};
use crate::exit::Exit;
use crate::output::Table;
use crate::settings::Settings;

/// Show every setting with its value and its source: flag, variable or file
#[derive(Args)]
pub(crate) struct Config {}

impl Config {
    pub(crate) async fn run(self, settings: &Settings, typed: &TypedCommand) -> anyhow::Result<Exit> {
        let found = config::in_force(typed)?;
        let path = typed.file.as_ref().map(|file| file.path.display().to_string());
        settings.answer(&json!({ "file": path, "settings": found }), || {
            let mut table = Table::new(&["SETTING", "VALUE", "FROM"]);
            for one in &found {
                let from = match one.from {
                    "flag" => one.flag.as_str(),
                    "variable" => &one.variable,
                    "file" => path.as_deref().unwrap_or_default(),
                    from => from,
                };
                table.row([&one.name, one.value.as_deref().unwrap_or("-"), from]);
            }
            table.print()
        })
    }
}
