//! Files of one crate do not import each other in circles, so they can be read one after the other, from the lowest up.
//!
//! A file imports the file of the module that a path names, in a `use` or in code. A path to a module around the file
//! does not count, because a child is a part of its parent. Nor does a `pub use`, or a parent's `use` that serves only
//! its children.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{self, File, Finding};

#[test]
fn files_do_not_import_each_other_in_circles() {
    let sources: Vec<_> = files::all().into_iter().filter(|file| file.path.starts_with("crates/")).collect();
    let mut findings = Vec::new();
    let roots = sources.iter().filter(|file| file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs"));
    for root in roots {
        let modules = Modules::of(root, &sources);
        assert!(modules.0.len() > 1, "{} has no modules", root.path);
        findings.extend(circles(&modules));
    }
    let rule = "Move what two files share into the lower of them, or into a file of its own.";
    files::assert_none(&findings, rule);
}

#[test]
fn a_circle_is_found() {
    let found = made_up(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::{self, Thing};"),
        ("b.rs", "fn f() { super::c::g(\"}\", '\"') }"),
        ("c.rs", "use crate::a; fn g() { a::h() }"),
    ]);
    let [circle] = &found[..] else { panic!("{found:?}") };
    assert!(circle.contains("a.rs -> b.rs (b), b.rs -> c.rs (g), c.rs -> a.rs (a)"), "{circle}");
}

#[test]
fn parents_re_exports_and_tests_are_not_in_circles() {
    let parent = [
        ("lib.rs", "mod a; pub use a::A;"),
        ("a/mod.rs", "mod b; use b::B; pub(crate) use b::D; struct A(B); type Miss = u8;"),
        ("a/b.rs", "use super::Miss; use crate::A; struct B;"),
    ];
    assert_eq!(made_up(&parent), [""; 0]);
    let tests = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; // crate::a::A"),
        ("b.rs", "struct B(&'static str); #[cfg(test)] mod tests { use crate::a::A; fn f() {} }"),
    ];
    assert_eq!(made_up(&tests), [""; 0]);
}

fn made_up(texts: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<_> = texts.iter().map(|(path, text)| File::new(format!("src/{path}"), *text)).collect();
    circles(&Modules::of(&sources[0], &sources)).iter().map(Finding::to_string).collect()
}

/// The names of a module and of those around it.
type ModulePath = Vec<String>;

/// The modules of a crate that are files, from its root.
struct Modules<'f>(BTreeMap<ModulePath, Module<'f>>);

struct Module<'f> {
    file: &'f File,
    code: Vec<&'f str>,
    children: BTreeSet<&'f str>,
}

impl<'f> Modules<'f> {
    fn of(root: &'f File, sources: &'f [File]) -> Self {
        let mut modules = Self(BTreeMap::new());
        modules.add(Vec::new(), root, sources);
        modules
    }

    fn add(&mut self, path: ModulePath, file: &'f File, sources: &'f [File]) {
        let code = without_tests(&words(&file.text));
        let folder = ["mod.rs", "lib.rs", "main.rs"].iter().find_map(|name| file.path.strip_suffix(name));
        let folder = folder.map_or_else(|| file.path.replace(".rs", "/"), str::to_owned);
        let mut children = BTreeSet::new();
        for declared in code.windows(3).filter(|part| part[0] == "mod" && part[2] == ";") {
            let places = [format!("{folder}{}.rs", declared[1]), format!("{folder}{}/mod.rs", declared[1])];
            if let Some(child) = sources.iter().find(|file| places.contains(&file.path)) {
                children.insert(declared[1]);
                self.add([&path[..], &[declared[1].to_owned()]].concat(), child, sources);
            }
        }
        self.0.insert(path, Module { file, code, children });
    }

    /// Returns the module that a path names as seen from another module, and the rest of the path. Returns `None` for a
    /// path into another crate.
    fn named<'p>(&self, from: &[String], path: &'p [&'p str]) -> Option<(ModulePath, &'p [&'p str])> {
        let (mut module, mut rest) = match path.first()? {
            &"crate" => (Vec::new(), &path[1..]),
            &"self" => (from.to_vec(), &path[1..]),
            &"super" => (from.to_vec(), path),
            child => self.0[from].children.contains(child).then(|| (from.to_vec(), path))?,
        };
        while let [first, others @ ..] = rest {
            match *first {
                "super" => drop(module.pop()),
                child if self.0[&module].children.contains(child) => module.push(child.to_owned()),
                _ => break,
            }
            rest = others;
        }
        Some((module, rest))
    }

    /// Returns the modules that a module imports, each with an imported name.
    fn imports(&self, from: &ModulePath) -> BTreeMap<ModulePath, String> {
        let code = &self.0[from].code;
        let (mut imports, mut aliases) = (BTreeMap::new(), BTreeMap::new());
        let (uses, rest) = uses(code);
        let mut add = |module: ModulePath, name: &str| {
            if !from.starts_with(&module) {
                imports.entry(module).or_insert_with(|| name.to_owned());
            }
        };
        for Use { is_public, path, alias } in uses {
            let Some((module, names)) = self.named(from, &path) else { continue };
            let is_child = module.starts_with(from);
            let serves_others = is_public || (is_child && alias != "*" && !rest.contains(&alias));
            if names.is_empty() {
                aliases.insert(alias, module.clone());
            }
            if !serves_others {
                add(module, alias);
            }
        }
        for path in paths(&rest) {
            let module = match aliases.get(path[0]) {
                Some(module) => self.named(module, &[&["self"], &path[1..]].concat()).map(|(module, _)| module),
                None => self.named(from, &path).map(|(module, _)| module),
            };
            if let Some(module) = module {
                add(module, path[path.len() - 1]);
            }
        }
        imports
    }
}

type Imports<'m> = BTreeMap<&'m ModulePath, BTreeMap<ModulePath, String>>;

/// Returns the modules that a module imports, directly or indirectly.
fn reach<'m>(imports: &'m Imports<'m>, from: &ModulePath) -> BTreeSet<&'m ModulePath> {
    let mut next: Vec<_> = imports[from].keys().collect();
    let mut found = BTreeSet::new();
    while let Some(path) = next.pop() {
        if found.insert(path) {
            next.extend(imports[path].keys());
        }
    }
    found
}

/// Returns every set of files that import each other, with the imports between them.
fn circles(modules: &Modules<'_>) -> Vec<Finding> {
    let imports: Imports<'_> = modules.0.keys().map(|path| (path, modules.imports(path))).collect();
    let reached: BTreeMap<_, _> = modules.0.keys().map(|path| (path, reach(&imports, path))).collect();
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for path in modules.0.keys().filter(|path| reached[path].contains(path)) {
        let circle: Vec<_> = reached[path].iter().filter(|other| reached[*other].contains(path)).collect();
        if !seen.insert(circle[0]) {
            continue;
        }
        let name = |path: &ModulePath| modules.0[path].file.path.rsplit_once("src/").map_or("", |(_, name)| name);
        let ties = circle.iter().flat_map(|from| {
            let within = imports[**from].iter().filter(|(to, _)| circle.iter().any(|path| **path == *to));
            within.map(|(to, taken)| format!("{} -> {} ({taken})", name(from), name(to)))
        });
        findings.push(modules.0[path].file.finding(1, Vec::from_iter(ties).join(", ")));
    }
    findings
}

/// Returns the tokens of a program: names, `::`, and every other character alone. Comments and string literals are left
/// out.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let raw = rest.trim_start_matches(['b', 'r']).trim_start_matches('#');
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'b' | 'r' if raw.starts_with('"') && name <= 2 && rest[..name].contains('r') => {
                let begins = rest.len() - raw.len();
                let end = format!("\"{}", "#".repeat(begins - name));
                raw[1..].find(&end).map_or(rest.len(), |at| begins + 1 + at + end.len())
            }
            '"' => 1 + quoted(&rest[1..], '"'),
            '\'' if rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'') => {
                1 + quoted(&rest[1..], '\'')
            }
            ':' if rest.starts_with("::") => {
                words.push("::");
                2
            }
            _ if name > 0 => {
                words.push(&rest[..name]);
                name
            }
            _ => {
                if !first.is_whitespace() {
                    words.push(&rest[..first.len_utf8()]);
                }
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    words
}

/// Returns the length of a string literal's rest, including its closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// Returns the program without its test code.
fn without_tests<'t>(words: &[&'t str]) -> Vec<&'t str> {
    let mut rest = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        if !words[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            rest.push(words[at]);
            at += 1;
            continue;
        }
        let mut depth = 0;
        while at < words.len() {
            let word = words[at];
            at += 1;
            depth += i32::from(matches!(word, "(" | "[" | "{")) - i32::from(matches!(word, ")" | "]" | "}"));
            if depth == 0 && matches!(word, ";" | "}" | ",") {
                break;
            }
        }
    }
    rest
}

struct Use<'t> {
    is_public: bool,
    path: Vec<&'t str>,
    /// The imported name; `*` for all names.
    alias: &'t str,
}

/// Returns the imports of a program, and the program without them.
fn uses<'t>(words: &[&'t str]) -> (Vec<Use<'t>>, Vec<&'t str>) {
    let (mut uses, mut rest) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        let end = words[at..].iter().position(|word| *word == ";").map_or(words.len(), |end| at + end);
        // `impl Trait + use<'a>` is a bound.
        if words[at] != "use" || words.get(at + 1) == Some(&"<") {
            rest.push(words[at]);
            at += 1;
            continue;
        }
        let is_public = at > 0 && matches!(words[at - 1], "pub" | ")");
        let mut tree = &words[at + 1..end];
        while !tree.is_empty() {
            tree = branch(tree, &[], is_public, &mut uses);
        }
        at = end + 1;
    }
    (uses, rest)
}

/// Reads one branch of a `use` and returns the rest.
fn branch<'w, 't>(
    mut words: &'w [&'t str],
    around: &[&'t str],
    is_public: bool,
    uses: &mut Vec<Use<'t>>,
) -> &'w [&'t str] {
    let mut path = around.to_vec();
    let mut alias = None;
    while let [word, rest @ ..] = words {
        words = rest;
        match *word {
            "::" => {}
            "," => break,
            "}" => return &[],
            "as" => alias = rest.first().copied(),
            "{" => {
                let mut depth = 1;
                let end = rest.iter().position(|word| {
                    depth += i32::from(*word == "{") - i32::from(*word == "}");
                    depth == 0
                });
                let end = end.unwrap_or(rest.len());
                let mut inner = &rest[..end];
                while !inner.is_empty() {
                    inner = branch(inner, &path, is_public, uses);
                }
                words = rest.get(end + 1..).unwrap_or_default();
                return words.strip_prefix(&[","]).unwrap_or(words);
            }
            _ if alias.is_some() => {}
            name => path.push(name),
        }
    }
    if path.last() == Some(&"self") {
        path.pop();
    }
    if let Some(last) = path.last().copied() {
        uses.push(Use { is_public, alias: alias.unwrap_or(last), path });
    }
    words
}

/// Returns the paths of more than one name in a program.
fn paths<'t>(words: &[&'t str]) -> Vec<Vec<&'t str>> {
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut paths = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let mut path = vec![words[at]];
        let begins = is_name(words[at]) && (at == 0 || words[at - 1] != "::");
        while begins && words.get(at + 1) == Some(&"::") && words.get(at + 2).is_some_and(|word| is_name(word)) {
            path.push(words[at + 2]);
            at += 2;
        }
        if path.len() > 1 {
            paths.push(path);
        }
        at += 1;
    }
    paths
}
