//! Writes the library: the helpers, each in its own block, then the functions with the code that reads their arguments
//! by name.

use std::collections::BTreeSet;

use crate::header::{Arg, ArgKind, Header};

/// All parts of the library except its clock.
pub(crate) struct Bundle<'a> {
    /// The name and text of each helper.
    pub(crate) helpers: &'a [(String, String)],
    pub(crate) functions: &'a [Header],
}

impl Bundle<'_> {
    /// Returns the text of the library without its first lines, which are added when it is loaded.
    pub(crate) fn render(&self, clock: &str) -> String {
        let mut names: Vec<_> = self.helpers.iter().map(|(name, _)| name.as_str()).collect();
        names.push("clock");
        let mut text = format!("local call\nlocal codes = {{{}}}\nlocal {}\n", self.codes(), names.join(", "));
        let clock = ("clock".to_owned(), clock.to_owned());
        for (name, source) in self.helpers.iter().chain([&clock]) {
            text += &format!("\n{name} = (function()\n{}end)()\n", without_comments(source));
        }
        for function in self.functions {
            text.push('\n');
            text.push_str(&registration(function));
        }
        text
    }

    /// Returns every refusal code of the functions, as a Lua list.
    fn codes(&self) -> String {
        let codes: BTreeSet<_> = self.functions.iter().flat_map(|function| &function.refusals).collect();
        codes.into_iter().map(|code| format!("'{code}',")).collect()
    }
}

fn registration(function: &Header) -> String {
    let Header { name, keys, keys_required, args, args_required, body, .. } = function;
    let locals: Vec<_> = keys.iter().chain(args.iter().map(|arg| &arg.name)).map(String::as_str).collect();
    let locals = locals.join(", ");
    let flags: Vec<_> = function.flags.iter().map(|flag| format!("'{flag}'")).collect();
    let mut text = format!("do\nlocal function {name}({locals})\n{}end\n", without_comments(body));
    text += &format!("redis.register_function{{function_name='{name}',flags={{{}}},\n", flags.join(","));
    text.push_str("callback=function(KEYS, ARGV)\n");
    if !keys.is_empty() {
        text += &format!("if #KEYS < {keys_required} or #ARGV < {args_required} then return no.invalid_args() end\n");
        text.push_str("begin(KEYS[1])\n");
    }
    for (at, key) in keys.iter().enumerate() {
        text += &format!("local {key} = KEYS[{}]\n", at + 1);
    }
    text.push_str(&arguments(args));
    let answer = format!("{name}({locals})");
    let answer = if keys.is_empty() { answer } else { format!("settle({answer})") };
    text += &format!("return {answer}\nend}}\nend\n");
    text
}

/// Generates the code that reads the arguments. Positions are constants up to the first list, and computed after it.
fn arguments(args: &[Arg]) -> String {
    let mut text = String::new();
    let mut listed = false;
    for (at, Arg { name, kind, .. }) in args.iter().enumerate() {
        let position = if listed { "at".to_owned() } else { (at + 1).to_string() };
        if let Some(reader) = list_reader(*kind) {
            let read = format!("{reader}(ARGV, {position})");
            if listed {
                text += &format!("local {name}\n{name}, at = {read}\n");
            } else {
                text += &format!("local {name}, at = {read}\n");
            }
            listed = true;
            text += &format!("if not {name} then {} end\n", refusal(name));
            continue;
        }
        text.push_str(&argument(name, *kind, &position));
        if listed {
            text.push_str("at = at + 1\n");
        }
    }
    text
}

/// Returns the helper that reads a list of this kind.
fn list_reader(kind: ArgKind) -> Option<&'static str> {
    match kind {
        ArgKind::List => Some("items"),
        ArgKind::Triples => Some("triples"),
        _ => None,
    }
}

fn argument(name: &str, kind: ArgKind, position: &str) -> String {
    let sent = format!("local {name} = ARGV[{position}] or ''");
    let refused = refusal(name);
    match kind {
        ArgKind::Text => format!("{sent}\nif {name} == '' then {refused} end\n"),
        ArgKind::MaybeText => format!("{sent}\nif {name} == '' then {name} = nil end\n"),
        ArgKind::Uuid => format!("{sent}\nif #{name} ~= 36 then {refused} end\n"),
        ArgKind::MaybeUuid => {
            format!("{sent}\nif {name} == '' then {name} = nil elseif #{name} ~= 36 then {refused} end\n")
        }
        ArgKind::Int => format!("local {name} = whole(ARGV[{position}])\nif not {name} then {refused} end\n"),
        ArgKind::MaybeInt => format!(
            "{sent}\nif {name} == '' then {name} = nil else\n{name} = whole({name})\nif not {name} then {refused} end\nend\n"
        ),
        ArgKind::Flag => format!("local {name} = ARGV[{position}] == '1'\n"),
        ArgKind::All => format!("local {name} = ARGV\n"),
        ArgKind::Bytes | ArgKind::List | ArgKind::Triples => format!("{sent}\n"),
        ArgKind::MaybeFree => {
            format!("{sent}\nif {name} == '' then {name} = nil else {name} = {name}:sub(2) end\n")
        }
    }
}

fn refusal(name: &str) -> String {
    format!("return no.invalid_args('field', '{name}')")
}

/// Returns the code without comments, because servers keep the library's text in memory and send it to their replicas.
fn without_comments(source: &str) -> String {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("--") && !line.trim().is_empty());
    code.map(|line| format!("{line}\n")).collect()
}
