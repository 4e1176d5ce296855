//! Settings and their sources: a flag, an `FF_*` variable, `flowfabric.toml`, or the default.

mod effective;
mod file;
mod setting;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
pub(crate) use effective::in_force;
use ff_sdk::store_url::without_password;
use file::File;
use serde_json::json;
use setting::settings;

use crate::exit::{self, Usage};

/// The default configuration file.
const FILE: &str = "flowfabric.toml";

/// A parsed command line, and the configuration file used for it.
pub(crate) struct TypedCommand {
    /// The definition of the command line, without variables and values from the file.
    pub(crate) words: Command,
    pub(crate) matches: ArgMatches,
    pub(crate) file: Option<File>,
}

impl TypedCommand {
    /// Parses the command line of this process. For an invalid command line, and for `--help`, prints the message and
    /// ends the process.
    pub(crate) fn read(words: Command) -> anyhow::Result<Self> {
        let file = read(&words)?;
        let matches = configured(words.clone(), file.as_ref()).try_get_matches();
        let matches = matches.unwrap_or_else(|error| {
            let error = without_variables(without_secrets(error), &words);
            let is_json = error.use_stderr() && std::env::args_os().any(|arg| arg == "--json");
            if is_json {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").trim_end();
                let message = message.trim_end_matches("For more information, try '--help'.").trim_end();
                exit::set_json_messages(true);
                exit::note(&json!({ "error": message, "code": "usage" }), "");
                std::process::exit(error.exit_code());
            }
            error.exit()
        });
        Ok(Self { words, matches, file })
    }

    /// Returns true if an option of the command was typed, rather than set by a variable, the file or a default.
    pub(crate) fn is_given(&self, option: &str) -> bool {
        let mut matches = &self.matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        matches.value_source(option) == Some(ValueSource::CommandLine)
    }
}

/// Removes options that variables set from the usage in an error, because they need not be typed.
fn without_variables(mut error: clap::Error, words: &Command) -> clap::Error {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return error };
    let mut usage = usage.to_string();
    for setting in settings(words).iter().filter(|setting| setting.is_in_environment()) {
        let value = setting.arg.get_value_names().and_then(<[_]>::first).map(|value| format!(" <{value}>"));
        usage = usage.replace(&format!(" --{}{}", setting.name(), value.unwrap_or_default()), "");
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage.into()));
    error
}

/// Removes passwords from an error, which repeats parts of the command line.
fn without_secrets(mut error: clap::Error) -> clap::Error {
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidSubcommand, ContextKind::InvalidValue] {
        if let Some(ContextValue::String(typed)) = error.get(kind) {
            let shown = match typed.rsplit_once('@') {
                Some((user, place)) if user.contains(':') => format!("***@{place}"),
                _ => without_password(typed),
            };
            error.insert(kind, ContextValue::String(shown));
        }
    }
    error
}

/// Reads the configuration file, if there is one: that in `--config`, or in `FF_CONFIG`, or in the working directory.
///
/// Parent directories are not searched: the meaning of a path in the file would depend on the working directory.
fn read(command: &Command) -> anyhow::Result<Option<File>> {
    let Some(path) = path(std::env::args_os(), std::env::var_os("FF_CONFIG"), Path::new(FILE).exists()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| Usage(format!("--config: cannot read {}: {error}", path.display())))?;
    File::parse(path, &text, &settings(command)).map(Some)
}

/// Returns the command line with a variable for every setting, and the values of the file as defaults.
fn configured(mut command: Command, file: Option<&File>) -> Command {
    for setting in settings(&command) {
        let values = file.and_then(|file| file.values(&setting)).map(<[String]>::to_vec);
        for place in setting.commands() {
            command = setting.within(command, place, values.as_deref());
        }
    }
    command
}

/// Returns the path of the file to read. An empty `FF_CONFIG` means no file. The last `--config` is used; the parser
/// later refuses a repeated one.
fn path(args: impl Iterator<Item = OsString>, variable: Option<OsString>, is_here: bool) -> Option<PathBuf> {
    let mut named = None;
    let mut args = args.take_while(|arg| arg != "--");
    while let Some(arg) = args.next() {
        if arg == "--config" {
            named = args.next();
        } else if let Some(path) = arg.to_str().and_then(|arg| arg.strip_prefix("--config=")) {
            named = Some(path.into());
        }
    }
    match (named, variable) {
        (Some(path), _) => Some(path.into()),
        (None, Some(path)) => (!path.is_empty()).then(|| path.into()),
        (None, None) => is_here.then(|| FILE.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_one_that_is_named_and_otherwise_the_one_that_is_here() {
        let args = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>().into_iter();
        let here = Some(PathBuf::from(FILE));
        assert_eq!(path(args("ff list"), None, true), here);
        assert_eq!(path(args("ff list"), None, false), None);
        assert_eq!(path(args("ff list"), Some("".into()), true), None);
        assert_eq!(path(args("ff list"), Some("v.toml".into()), true), Some("v.toml".into()));
        assert_eq!(path(args("ff list --config a --config=b"), Some("v".into()), true), Some("b".into()));
        assert_eq!(path(args("ff tag -- --config a"), None, true), here);
    }
}
