//! The configuration file. It is checked as a whole: it may contain only known settings with valid values.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::setting::{SECTIONS, Setting, nearest};
use crate::exit::Usage;

/// A configuration file with valid settings only.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    entries: Vec<FileSetting>,
}

/// A setting in the file, with its values as typed on a command line.
struct FileSetting {
    section: &'static str,
    name: String,
    values: Vec<String>,
}

impl File {
    /// Parses a file. The error names the file and the line.
    pub(super) fn parse(path: PathBuf, text: &str, settings: &[Setting]) -> anyhow::Result<Self> {
        let wrong = |at: usize, why: String| {
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            Usage(format!("{}:{line}: {why}", path.display()))
        };
        let document = DeTable::parse(text).map_err(|error| {
            wrong(error.span().map_or(0, |span| span.start), format!("must be TOML: {}", error.message()))
        })?;
        let mut entries = Vec::new();
        for (section, value) in document.get_ref() {
            let name = section.get_ref().as_ref();
            let at = |why| wrong(section.span().start, why);
            let Some((known, _)) = SECTIONS.iter().find(|(known, _)| *known == name) else {
                return Err(at(unknown_section(name, settings)).into());
            };
            let DeValue::Table(table) = value.get_ref() else {
                return Err(at(format!("{name}: must be a section, [{name}], with its settings below it")).into());
            };
            for (key, value) in table {
                let read = read(known, key.get_ref(), value, settings);
                entries.push(read.map_err(|why| wrong(key.span().start, why))?);
            }
        }
        Ok(Self { path, entries })
    }

    /// Returns the values of a setting, if the file has it.
    pub(super) fn values(&self, setting: &Setting) -> Option<&[String]> {
        let is_it = |entry: &&FileSetting| entry.section == setting.section && entry.name == setting.name();
        self.entries.iter().find(is_it).map(|entry| entry.values.as_slice())
    }
}

/// Returns the error for an unknown section. The name may be that of a setting written outside its section.
fn unknown_section(name: &str, settings: &[Setting]) -> String {
    let sections = SECTIONS.iter().map(|(section, _)| format!("[{section}]"));
    let misplaced = settings.iter().find(|setting| setting.name() == flag(name)).map(Setting::full_name);
    match (misplaced, nearest(name, SECTIONS.iter().map(|(section, _)| *section))) {
        (Some(full), _) => format!("{name}: stands in no section; {full} is a setting"),
        (None, Some(suggestion)) => format!("{name}: is no section; did you mean [{suggestion}]?"),
        (None, None) => format!("{name}: is no section, only these are: {}", sections.collect::<Vec<_>>().join(", ")),
    }
}

fn read(
    section: &'static str,
    key: &str,
    value: &Spanned<DeValue>,
    settings: &[Setting],
) -> Result<FileSetting, String> {
    let of_section = || settings.iter().filter(|setting| setting.section == section);
    let Some(setting) = of_section().find(|setting| setting.name() == flag(key)) else {
        let suggestion = nearest(&flag(key), of_section().map(Setting::name));
        let all = || of_section().map(Setting::name).collect::<Vec<_>>().join(", ");
        let hint =
            suggestion.map_or_else(|| format!(", only these are: {}", all()), |name| format!("; did you mean {name}?"));
        return Err(format!("{section}.{key}: is no setting{hint}"));
    };
    let values = match value.get_ref() {
        DeValue::Array(values) if setting.is_list() => values.iter().map(text).collect::<Option<Vec<_>>>(),
        DeValue::Array(_) => return Err(format!("{section}.{key}: must be one value, not a list")),
        _ => text(value).map(|value| vec![value]),
    };
    let values = values.ok_or_else(|| format!("{section}.{key}: must be text, a number or true or false"))?;
    // An error does not repeat a secret.
    let shown = |value: &str| if setting.is_secret() { String::new() } else { format!(" cannot be {value:?}:") };
    match values.iter().find_map(|value| Some((value, setting.objection(value)?))) {
        Some((value, why)) => {
            Err(format!("{section}.{key}:{} {why}", shown(&ff_sdk::store_url::without_password(value))))
        }
        None => Ok(FileSetting { section, name: flag(key), values }),
    }
}

/// Returns a scalar value as typed on a command line.
fn text(value: &Spanned<DeValue>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Returns the name of the flag: names in the file may have underscores.
fn flag(name: &str) -> String {
    name.replace('_', "-")
}
