//! The list in a `tracestate`: a key and a value for every tracing system that added one.

/// Maximum number of members.
const MEMBERS: usize = 32;
/// Maximum number of bytes of a key, or of a value.
const PART_BYTES: usize = 256;

/// Returns the list without spaces around its members and without empty members; `None` when nothing is left.
pub(super) fn members(text: &str) -> Result<Option<String>, String> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for member in text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty()) {
        let (key, value) = member.split_once('=').ok_or_else(|| format!("has {member:?}, which is not key=value"))?;
        if !is_key(key) {
            return Err(format!("has the key {key:?}: 1 to {PART_BYTES} of a-z, 0-9, _, -, *, / and @ are allowed"));
        }
        if !is_value(value) {
            return Err(format!(
                "has under {key:?} what is no value: 1 to {PART_BYTES} printable characters but , and ="
            ));
        }
        if pairs.iter().any(|(known, _)| *known == key) {
            return Err(format!("has the key {key:?} twice"));
        }
        pairs.push((key, value));
    }
    if pairs.len() > MEMBERS {
        return Err(format!("must have at most {MEMBERS} members, got {}", pairs.len()));
    }
    let joined: Vec<_> = pairs.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    Ok((!joined.is_empty()).then(|| joined.join(",")))
}

fn is_key(key: &str) -> bool {
    let may_begin = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let may_follow = |byte: u8| may_begin(byte) || b"_-*/@".contains(&byte);
    key.len() <= PART_BYTES && key.bytes().next().is_some_and(may_begin) && key.bytes().all(may_follow)
}

/// A value may contain spaces, but cannot end with one, because the caller has trimmed it.
fn is_value(value: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b' '..=b'~') && !b",=".contains(&byte);
    !value.is_empty() && value.len() <= PART_BYTES && value.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(text: &str) -> Option<String> {
        members(text).unwrap()
    }

    #[test]
    fn spaces_and_empty_members_are_left_out() {
        assert_eq!(
            normalize("rojo=00f067aa0ba902b7 ,\tcongo=t61rcWkgMzE,, "),
            normalize("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")
        );
        assert_eq!(normalize(""), None);
        assert_eq!(normalize(" , ,"), None);
        assert_eq!(normalize("0tenant@vendor/x*_-=a b~").as_deref(), Some("0tenant@vendor/x*_-=a b~"));
    }

    #[test]
    fn an_invalid_tracestate_is_refused_with_its_defect() {
        let long = "x".repeat(257);
        let many = (0..33).map(|nth| format!("k{nth}=v")).collect::<Vec<_>>().join(",");
        for (bad, why) in [
            ("alone", "not key=value"),
            ("Upper=1", "the key"),
            ("=1", "the key"),
            ("@a=1", "the key"),
            ("a b=1", "the key"),
            ("a=", "no value"),
            ("a=b=c", "no value"),
            ("a=é", "no value"),
            ("a=1,b=2,a=3", "twice"),
            (&format!("{long}=1"), "the key"),
            (&format!("a={long}"), "no value"),
            (&many, "at most 32"),
        ] {
            let error = members(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
        let most = (0..32).map(|nth| format!("k{nth}=v")).collect::<Vec<_>>().join(",");
        assert_eq!(normalize(&most), Some(most.clone()));
    }
}
