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

/// The file that is read unless another is named.
const FILE: &str = "flowfabric.toml";

/// A command line, parsed, and the file that configured it.
pub(crate) struct TypedCommand {
    /// The words there are, as the tool knows them by itself.
    pub(crate) words: Command,
    pub(crate) matches: ArgMatches,
    pub(crate) file: Option<File>,
}

impl TypedCommand {
    /// Reads the command line of this process. One that is not understood is answered at once, and the process ends.
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
                exit::speak_json(true);
                exit::note(&json!({ "error": message, "code": "usage" }), "");
                std::process::exit(error.exit_code());
            }
            error.exit()
        });
        Ok(Self { words, matches, file })
    }

    /// Whether an option of the command was typed, rather than set by a variable, a file or the tool.
    pub(crate) fn is_given(&self, option: &str) -> bool {
        let mut matches = &self.matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        matches.value_source(option) == Some(ValueSource::CommandLine)
    }
}

/// The same error with a usage that has no options which only variables give: they need not be typed.
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

/// The same error without the passwords in the command line, which it repeats.
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

/// Reads the file in force, if there is one: the one `--config` names, or `FF_CONFIG`, or the one in the working directory.
///
/// The folders above are not searched: the meaning of a path in the file would depend on the working directory.
fn read(command: &Command) -> anyhow::Result<Option<File>> {
    let Some(path) = path(std::env::args_os(), std::env::var_os("FF_CONFIG"), Path::new(FILE).exists()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| Usage(format!("--config: cannot read {}: {error}", path.display())))?;
    File::parse(path, &text, &settings(command)).map(Some)
}

/// The command line with the file's values as defaults, and a variable for every setting.
fn configured(mut command: Command, file: Option<&File>) -> Command {
    for setting in settings(&command) {
        let said = file.and_then(|file| file.values(&setting)).map(<[String]>::to_vec);
        for place in setting.commands() {
            command = setting.within(command, place, said.as_deref());
        }
    }
    command
}

/// Which file to read. The last `--config` counts, as it does for every option; an empty `FF_CONFIG` is no file.
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
