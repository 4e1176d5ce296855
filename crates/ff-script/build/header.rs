//! The header of a Lua function: its signature, in lines that begin with `---`.
//!
//! ```text
//! --- A sentence.
//! ---
//! --- key  name  type          a key, by the type Valkey has for it
//! --- key+ name  type          a key that callers may leave out, because it came after the function was published
//! --- arg  name  type  note    an argument
//! --- arg+ name  type  note    an argument that callers may leave out, likewise
//! --- ok   name  note          a field of the answer
//! --- no   code                a refusal
//! --- flag name  reason        a flag of the function
//! ```

/// A function of the library.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) domain: String,
    /// The description, one entry per line.
    pub(crate) about: Vec<String>,
    pub(crate) keys: Vec<String>,
    /// Number of keys that a caller must send; later keys may be left out.
    pub(crate) keys_required: usize,
    pub(crate) args: Vec<Arg>,
    /// Number of arguments that a caller must send, likewise.
    pub(crate) args_required: usize,
    /// The fields of the answer.
    pub(crate) answers: Vec<String>,
    /// The codes of its refusals.
    pub(crate) refusals: Vec<String>,
    pub(crate) flags: Vec<String>,
    /// The code below the header.
    pub(crate) body: String,
}

/// An argument of a function.
#[derive(Debug)]
pub(crate) struct Arg {
    pub(crate) name: String,
    pub(crate) kind: ArgKind,
    /// The description of the argument.
    pub(crate) note: String,
}

/// The encoding of an argument, and the value that a function gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ArgKind {
    /// Text that is never empty.
    Text,
    /// Text, empty when absent.
    MaybeText,
    Uuid,
    /// A uuid, empty when absent.
    MaybeUuid,
    /// A non-negative whole number.
    Int,
    /// A non-negative whole number, empty when absent.
    MaybeInt,
    /// `1`, or empty.
    Flag,
    /// Any bytes, possibly empty.
    Bytes,
    /// Text that may be present and empty: `=` and the text; empty when absent.
    MaybeFree,
    /// A length, then as many items.
    List,
    /// A number, then three items for each; may be missing when there are none.
    Triples,
    /// All arguments, possibly none: the only argument of its function, passed without a copy.
    All,
}

impl ArgKind {
    /// Returns whether a value of this kind may be absent, so that the argument may be left out.
    fn may_be_absent(self) -> bool {
        !matches!(self, Self::Text | Self::Uuid | Self::Int | Self::List)
    }
}

const ARG_KINDS: &[(&str, ArgKind)] = &[
    ("text", ArgKind::Text),
    ("text?", ArgKind::MaybeText),
    ("uuid", ArgKind::Uuid),
    ("uuid?", ArgKind::MaybeUuid),
    ("int", ArgKind::Int),
    ("int?", ArgKind::MaybeInt),
    ("flag", ArgKind::Flag),
    ("bytes", ArgKind::Bytes),
    ("free?", ArgKind::MaybeFree),
    ("list", ArgKind::List),
    ("triples", ArgKind::Triples),
    ("all", ArgKind::All),
];

const KEY_TYPES: &[&str] = &["string", "hash", "list", "set", "zset", "stream"];

const FLAGS: &[&str] = &["no-writes", "allow-oom"];

impl Header {
    /// Reads the header of a file. `taken` are the names of helpers, which no key or argument may have.
    pub(crate) fn parse(name: &str, domain: &str, text: &str, taken: &[&str]) -> Result<Self, String> {
        let lines = text.lines().take_while(|line| line.starts_with("---")).count();
        let mut header = Self {
            name: name.into(),
            domain: domain.into(),
            about: Vec::new(),
            keys: Vec::new(),
            keys_required: 0,
            args: Vec::new(),
            args_required: 0,
            answers: Vec::new(),
            refusals: Vec::new(),
            flags: Vec::new(),
            body: text.lines().skip(lines).map(|line| format!("{line}\n")).collect(),
        };
        if !name.starts_with("ff_") {
            return Err(format!("a function's name begins with ff_, not {name}"));
        }
        for line in text.lines().take(lines) {
            header.read(line, taken).map_err(|why| format!("{why}: {line}"))?;
        }
        header.check()
    }

    fn read(&mut self, line: &str, taken: &[&str]) -> Result<(), String> {
        let words: Vec<_> = line.split_whitespace().skip(1).collect();
        match words[..] {
            [word @ ("key" | "key+"), name, kind] if KEY_TYPES.contains(&kind) => {
                self.keys_required = required(word, self.keys_required, self.keys.len())?;
                self.keys.push(self.new_name(name, taken)?);
            }
            [word @ ("arg" | "arg+"), name, kind, ref note @ ..] => {
                let known = ARG_KINDS.iter().find(|(word, _)| *word == kind);
                let (_, kind) = *known.ok_or_else(|| format!("there is no type of argument {kind}"))?;
                if kind != ArgKind::All {
                    self.args_required = required(word, self.args_required, self.args.len())?;
                }
                if word == "arg+" && !kind.may_be_absent() {
                    return Err("what may be left out needs a type that may be absent".into());
                }
                let (name, note) = (self.new_name(name, taken)?, note.join(" "));
                self.args.push(Arg { name, kind, note });
            }
            ["ok", name, ..] => self.answers.push(name.into()),
            ["no", code] => self.refusals.push(code.into()),
            ["flag", name, ..] if FLAGS.contains(&name) => self.flags.push(name.into()),
            ["key" | "key+" | "no" | "flag", ..] => return Err("this line does not read as a signature".into()),
            _ if self.keys.is_empty() && self.args.is_empty() && self.answers.is_empty() => {
                self.about.push(words.join(" "));
            }
            [] => {}
            _ => return Err("a sentence belongs before the signature".into()),
        }
        Ok(())
    }

    fn new_name(&self, name: &str, taken: &[&str]) -> Result<String, String> {
        let known = self.keys.iter().chain(self.args.iter().map(|arg| &arg.name));
        if taken.contains(&name) || known.into_iter().any(|known| known == name) {
            return Err(format!("the name {name} is taken"));
        }
        Ok(name.into())
    }

    fn check(mut self) -> Result<Self, String> {
        while self.about.last().is_some_and(String::is_empty) {
            self.about.pop();
        }
        if !self.about.last().is_some_and(|line| line.ends_with('.')) {
            return Err("a header begins with a sentence".into());
        }
        if self.answers.is_empty() {
            return Err("a header says what the function answers".into());
        }
        if self.args.len() > 1 && self.args.iter().any(|arg| arg.kind == ArgKind::All) {
            return Err("an argument that is all there are is the only one".into());
        }
        if self.keys.is_empty() == self.refusals.iter().any(|code| code == "invalid_args") {
            return Err("invalid_args is refused exactly when there are keys, for they can be left out".into());
        }
        Ok(self)
    }
}

/// Returns the number of required keys or arguments after one more line. A required one may not follow an optional one.
fn required(word: &str, required: usize, read: usize) -> Result<usize, String> {
    match word.ends_with('+') {
        true => Ok(required),
        false if required == read => Ok(required + 1),
        false => Err("what must be there comes before what may be left out".into()),
    }
}
