//! The settings in force, and the source of each.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use ff_sdk::store_url::without_password;
use serde::Serialize;

use super::setting::{Setting, settings};
use super::{File, TypedCommand, configured, without_secrets};
use crate::exit::Usage;

/// One setting as it is in force.
#[derive(Serialize)]
pub(crate) struct EffectiveSetting {
    /// Its name in the file, with its section.
    pub(crate) name: String,
    /// Its value as it would be typed, several with commas between them; nothing when nothing is said.
    pub(crate) value: Option<String>,
    pub(crate) from: &'static str,
    pub(crate) flag: String,
    pub(crate) variable: String,
    /// Its description.
    pub(crate) about: String,
}

/// Every setting as it is in force: settings of the tool itself as on this command line, and settings of other
/// commands as when nothing is typed after their name.
pub(crate) fn in_force(typed: &TypedCommand) -> anyhow::Result<Vec<EffectiveSetting>> {
    let mut found = Vec::new();
    for setting in settings(&typed.words) {
        let alone = setting.command_name().map(|name| alone(&typed.words, name, typed.file.as_ref())).transpose()?;
        let matches = alone.as_ref().and_then(ArgMatches::subcommand).map_or(&typed.matches, |(_, matches)| matches);
        found.push(setting.in_force(matches, typed.file.as_ref()));
    }
    Ok(found)
}

/// The settings of a command that is typed without any options, required ones included.
fn alone(command: &Command, name: &'static str, file: Option<&File>) -> anyhow::Result<ArgMatches> {
    let command = configured(command.clone(), file);
    let command = command.mut_subcommand(name, |command| command.mut_args(|arg| arg.required(false)));
    command.try_get_matches_from(["ff", name]).map_err(|error| {
        let said = without_secrets(error).to_string();
        Usage(said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()).into()
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
