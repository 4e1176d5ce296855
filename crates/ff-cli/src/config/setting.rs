//! The settings: the options of the long-running commands, and the global options.

use clap::builder::OsStr;
use clap::{Arg, ArgAction, Command};

/// The sections of the file, each with the command whose options it contains. The first contains the global options.
pub(super) const SECTIONS: &[(&str, Option<&str>)] =
    &[("client", None), ("server", Some("server")), ("dev", Some("dev")), ("worker", Some("worker"))];

/// Commands that use the store of the server, and read it from the section of the server.
const SHARES_SERVER_STORE: &[&str] = &["migrate"];

/// Options that apply to a single call, and are not settings.
const OF_ONE_CALL: &[&str] = &["config", "help", "json", "verbose", "version"];

/// An option that can also be set by a variable or in the file.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(super) section: &'static str,
    command: Option<&'static str>,
    pub(super) arg: Arg,
    /// The environment variable that sets it if its flag is not typed.
    pub(super) variable: String,
}

/// Returns all settings, in the order of the sections.
pub(super) fn settings(command: &Command) -> Vec<Setting> {
    let of_section = |(section, name): &(&'static str, Option<&'static str>)| {
        let owner = name.map_or(Some(command), |name| command.find_subcommand(name));
        let args = owner.into_iter().flat_map(Command::get_arguments).filter(|arg| is_setting(arg));
        args.map(|arg| Setting::new(section, *name, arg.clone())).collect::<Vec<_>>()
    };
    SECTIONS.iter().flat_map(of_section).collect()
}

fn is_setting(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| !OF_ONE_CALL.contains(&long))
}

impl Setting {
    fn new(section: &'static str, command: Option<&'static str>, arg: Arg) -> Self {
        let own = arg.get_env().and_then(|name| name.to_str()).map(str::to_owned);
        let flag = arg.get_long().unwrap_or_default();
        let variable = own.unwrap_or_else(|| format!("FF_{section}_{flag}").to_uppercase().replace('-', "_"));
        Self { section, command, arg, variable }
    }

    /// Returns the command of the option; `None` for a global option.
    pub(super) fn command_name(&self) -> Option<&'static str> {
        self.command
    }

    /// Returns the name on the command line and in the section.
    pub(super) fn name(&self) -> &str {
        self.arg.get_long().unwrap_or_default()
    }

    /// Returns the name with the section.
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.section, self.name())
    }

    /// Returns true if the variable is set and the flag is not typed.
    pub(super) fn is_in_environment(&self) -> bool {
        let flag = format!("--{}", self.name());
        let is_flag =
            |typed: std::ffi::OsString| typed.to_str().is_some_and(|typed| typed.split('=').next() == Some(&flag));
        std::env::var_os(&self.variable).is_some() && !std::env::args_os().any(is_flag)
    }

    /// Returns true if the setting may have several values.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.arg.get_action(), ArgAction::Append)
    }

    /// Returns true if the value must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        self.arg.is_hide_env_values_set()
    }

    /// Returns the commands with this option; `None` stands for the tool itself.
    pub(super) fn commands(&self) -> Vec<Option<&'static str>> {
        let beside = SHARES_SERVER_STORE.iter().map(|name| Some(*name));
        let is_shared = self.section == "server" && self.name() == "store";
        std::iter::once(self.command).chain(beside.filter(|_| is_shared)).collect()
    }

    /// Returns the whole command line with the variable of this setting and, if the file has values for it, with those
    /// as the default.
    pub(super) fn within(&self, command: Command, place: Option<&'static str>, values: Option<&[String]>) -> Command {
        let change = |arg: Arg| {
            let arg = arg.env(OsStr::from(self.variable.clone()));
            match values {
                Some(values) => arg.required(false).default_values(values.iter().cloned().map(OsStr::from)),
                None => arg,
            }
        };
        match place {
            None => command.mut_arg(self.arg.get_id().as_str(), change),
            Some(name) => command.mut_subcommand(name, |command| command.mut_arg(self.arg.get_id().as_str(), change)),
        }
    }

    /// Returns the reason if a value is invalid.
    pub(super) fn objection(&self, value: &str) -> Option<String> {
        if !self.arg.get_action().takes_values() {
            return (!matches!(value, "true" | "false")).then(|| "must be true or false".to_owned());
        }
        let alone = Arg::new("value").long("value").value_parser(self.arg.get_value_parser().clone());
        let command = Command::new("check").no_binary_name(true).arg(alone.num_args(1).allow_hyphen_values(true));
        let error = command.try_get_matches_from(["--value", value]).err()?;
        let why = std::error::Error::source(&error).map(ToString::to_string);
        let words: Vec<_> = self.arg.get_possible_values().iter().map(|word| word.get_name().to_owned()).collect();
        Some(why.unwrap_or_else(|| match words.is_empty() {
            true => "is not understood".to_owned(),
            false => format!("must be one of {}", words.join(", ")),
        }))
    }
}

/// Returns the name with the smallest edit distance, if that is at most a third of the longer name.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.map(|name| (edit_distance(typed, name), name)).min()?;
    (near.0 <= typed.len().max(near.1.len()).div_ceil(3)).then_some(near.1)
}

/// Returns the edit distance: the number of letters to add, remove or replace.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (nth, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], nth + 1);
        for (at, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_what_was_meant_and_nonsense_finds_nothing() {
        let names = || ["listen", "store", "concurrency", "lease-ttl"].into_iter();
        for (typed, expected) in
            [("lisen", "listen"), ("stor", "store"), ("leasettl", "lease-ttl"), ("concurency", "concurrency")]
        {
            assert_eq!(nearest(typed, names()), Some(expected));
        }
        assert_eq!(nearest("colour", names()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
