//! What a command is not told: it works on what strangers submitted, and what it can read it may pass on.

use std::ffi::{OsStr, OsString};

use ff_sdk::store_url::holds_password;

/// Variables that are secrets, whatever they hold.
const SECRET: &[&str] = &["FF_API_KEY", "FF_TOKEN"];

/// The variables of ours that hold a secret: keys, tokens, and addresses with a password.
pub(super) fn withheld(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = OsString> {
    variables.filter(|(name, value)| is_secret(name, value)).map(|(name, _)| name)
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str().filter(|name| name.starts_with("FF_")) else { return false };
    SECRET.contains(&name) || value.to_str().is_none_or(holds_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tokens_and_passwords_are_withheld_and_nothing_else() {
        let variables = [
            ("FF_API_KEY", "ff_a_b"),
            ("FF_TOKEN", ""),
            ("FF_STORE", "postgres://me:secret@db/x"),
            ("FF_NAMESPACE", "acme"),
            ("FF_SERVER", "http://127.0.0.1:7070"),
            ("DATABASE_URL", "postgres://me:theirs@db/x"),
        ];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names: Vec<_> = withheld(variables.into_iter()).collect();
        assert_eq!(names, ["FF_API_KEY", "FF_TOKEN", "FF_STORE"]);
    }
}
