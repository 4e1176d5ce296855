//! The settings in force, with their sources.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use ff_sdk::store_url::without_password;
use serde::Serialize;

use super::setting::{Setting, settings};
use super::{File, TypedCommand, configured, without_secrets};
use crate::exit::Usage;

/// A setting with its value in force.
#[derive(Serialize)]
pub(crate) struct EffectiveSetting {
    /// The name in the file, with the section.
    pub(crate) name: String,
    /// The value as typed on a command line; a list is joined by commas. `None` if there is no value.
    pub(crate) value: Option<String>,
    pub(crate) from: &'static str,
    pub(crate) flag: String,
    pub(crate) variable: String,
    /// The help text.
    pub(crate) about: String,
}

/// Returns all settings in force: global settings as on this command line, and settings of a command as if it were
/// typed without options.
pub(crate) fn in_force(typed: &TypedCommand) -> anyhow::Result<Vec<EffectiveSetting>> {
    let mut found = Vec::new();
    for setting in settings(&typed.words) {
        let alone = setting.command_name().map(|name| alone(&typed.words, name, typed.file.as_ref())).transpose()?;
        let matches = alone.as_ref().and_then(ArgMatches::subcommand).map_or(&typed.matches, |(_, matches)| matches);
        found.push(setting.in_force(matches, typed.file.as_ref()));
    }
    Ok(found)
}

/// Parses a command as if it were typed without options, not even required ones.
fn alone(command: &Command, name: &'static str, file: Option<&File>) -> anyhow::Result<ArgMatches> {
    let command = configured(command.clone(), file);
    let command = command.mut_subcommand(name, |command| command.mut_args(|arg| arg.required(false)));
    command.try_get_matches_from(["ff", name]).map_err(|error| {
        let message = without_secrets(error).to_string();
        Usage(message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()).into()
    })
}

impl Setting {
    fn in_force(&self, matches: &ArgMatches, file: Option<&File>) -> EffectiveSetting {
        let id = self.arg.get_id().as_str();
        let values = matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy());
        let values: Vec<_> =
            values.map(|value| if self.is_secret() { "(hidden)".into() } else { without_password(&value) }).collect();
        EffectiveSetting {
            name: self.full_name(),
            value: (!values.is_empty()).then(|| values.join(",")),
            from: match matches.value_source(id) {
                Some(ValueSource::CommandLine) => "flag",
                Some(ValueSource::EnvVariable) => "variable",
                Some(_) if file.is_some_and(|file| file.values(self).is_some()) => "file",
                Some(_) => "default",
                None => "nowhere",
            },
            flag: format!("--{}", self.name()),
            variable: self.variable.clone(),
            about: self.arg.get_help().map(ToString::to_string).unwrap_or_default(),
        }
    }
}
