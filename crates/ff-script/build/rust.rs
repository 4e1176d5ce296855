//! Writes a struct per function: its keys and arguments by name, and the call that sends them.

use crate::header::{ArgKind, Header};

pub(crate) fn render(functions: &[Header]) -> String {
    let mut text = String::new();
    for function in functions {
        text.push_str(&one(function));
    }
    let names: Vec<_> = functions.iter().map(|function| format!("{}::SIGNATURE", type_name(&function.name))).collect();
    text += "/// Every function of the library.\n";
    text += &format!("pub const SIGNATURES: &[Signature] = &[{}];\n", names.join(", "));
    text
}

fn one(function: &Header) -> String {
    let name = type_name(&function.name);
    let mut text = String::new();
    for line in &function.about {
        text += &format!("/// {line}\n");
    }
    text += &format!("#[derive(Clone)]\npub struct {name} {{\n");
    for key in &function.keys {
        text += &format!("    /// The key of `{key}`.\n    pub {key}: String,\n");
    }
    for arg in &function.args {
        let note = if arg.note.is_empty() { format!("`{}`.", arg.name) } else { format!("{}.", arg.note) };
        text += &format!("    /// {note}\n    pub {}: {},\n", arg.name, rust_type(arg.kind));
    }
    text += &format!("}}\n\nimpl {name} {{\n");
    text += "    /// As the header of the function says it.\n";
    text += "    pub const SIGNATURE: Signature = Signature {\n";
    text += &format!("        name: {:?},\n        domain: {:?},\n", function.name, function.domain);
    text += &format!("        keys: &{:?},\n", function.keys);
    let args: Vec<_> = function.args.iter().map(|arg| arg.name.as_str()).collect();
    text += &format!("        args: &{args:?},\n        answers: &{:?},\n", function.answers);
    text += &format!("        keys_required: {},\n", function.keys_required);
    text += &format!("        args_required: {},\n", function.args_required);
    text += &format!("        refusals: &{:?},\n        flags: &{:?},\n", function.refusals, function.flags);
    text += "    };\n\n    /// The call, its keys and arguments in their order.\n";
    text += "    pub fn call(self) -> Fcall {\n";
    if function.keys.is_empty() && function.args.is_empty() {
        return text + "        Fcall::new(&Self::SIGNATURE)\n    }\n}\n\n";
    }
    text += "        let mut call = Fcall::new(&Self::SIGNATURE);\n";
    for key in &function.keys {
        text += &format!("        call.key(self.{key});\n");
    }
    for arg in &function.args {
        text += &format!("        call.{}(self.{});\n", encoder(arg.kind), arg.name);
    }
    text + "        call\n    }\n}\n\n"
}

/// Returns the type name of a function: `RenewLease` for `ff_renew_lease`.
fn type_name(function: &str) -> String {
    let words = function.split('_').skip(1);
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

fn rust_type(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Text | ArgKind::Uuid => "String",
        ArgKind::MaybeText | ArgKind::MaybeUuid | ArgKind::MaybeFree => "Option<String>",
        ArgKind::Int => "u64",
        ArgKind::MaybeInt => "Option<u64>",
        ArgKind::Flag => "bool",
        ArgKind::Bytes => "Bytes",
        ArgKind::List | ArgKind::All => "Vec<Bytes>",
        ArgKind::Triples => "Vec<[Bytes; 3]>",
    }
}

/// Returns the method of a call that appends an argument of this kind.
fn encoder(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Text | ArgKind::Uuid => "text",
        ArgKind::MaybeText | ArgKind::MaybeUuid => "maybe_text",
        ArgKind::Int => "int",
        ArgKind::MaybeInt => "maybe_int",
        ArgKind::Flag => "flag",
        ArgKind::Bytes => "bytes",
        ArgKind::MaybeFree => "maybe_free",
        ArgKind::List => "list",
        ArgKind::All => "all",
        ArgKind::Triples => "triples",
    }
}
