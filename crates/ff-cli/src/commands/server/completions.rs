//! `ff completions` and `ff openapi`: completion scripts for shells, and the description of the HTTP API.

use clap::Args;
use clap_complete::Shell;

use crate::config::TypedCommand;
use crate::exit::Exit;
use crate::output;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = HOW)]
pub(crate) struct Completions {
    /// Shell to complete commands in
    shell: Shell,
}

const HOW: &str = "\
In this shell:  source <(ff completions bash)
Permanently:
  bash        ff completions bash > ~/.local/share/bash-completion/completions/ff
  zsh         ff completions zsh > \"${fpath[1]}/_ff\"
  fish        ff completions fish > ~/.config/fish/completions/ff.fish
  elvish      ff completions elvish >> ~/.config/elvish/rc.elv
  powershell  ff completions powershell >> $PROFILE";

impl Completions {
    pub(crate) async fn run(self, typed: &TypedCommand) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut typed.words.clone(), "ff", &mut script);
        output::bytes(&script)?;
        Ok(Exit::Done)
    }
}

/// Print the OpenAPI document of the HTTP API
#[derive(Args)]
pub(crate) struct OpenApi {}

impl OpenApi {
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        output::line(serde_json::to_string_pretty(&ff_server::openapi())?)?;
        Ok(Exit::Done)
    }
}
