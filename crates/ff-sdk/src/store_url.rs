//! Passwords in the address of a store.

/// A URL without what is in front of the host, and without a parameter of that name: that is where a password would be.
pub fn without_password(url: &str) -> String {
    let place = match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, place)) => format!("{scheme}://{place}"),
        None => url.to_owned(),
    };
    let Some((place, parameters)) = place.split_once('?') else { return place };
    let kept: Vec<_> = parameters.split('&').filter(|one| !one.starts_with("password=")).collect();
    if kept.is_empty() { place.to_owned() } else { format!("{place}?{}", kept.join("&")) }
}

/// Whether a URL holds a password.
pub fn holds_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let named = rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    let said = rest.split_once('?').is_some_and(|(_, said)| said.split('&').any(|one| one.starts_with("password=")));
    named || said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_without_password() {
        assert_eq!(
            without_password("valkey://me:p@ss@host:1/2?durability=fsync"),
            "valkey://host:1/2?durability=fsync"
        );
        assert_eq!(without_password("sqlite:jobs.db"), "sqlite:jobs.db");
        assert_eq!(
            without_password("postgres://host/db?password=x&sslmode=require"),
            "postgres://host/db?sslmode=require"
        );
        assert_eq!(without_password("postgres://host/db?password=x"), "postgres://host/db");
        assert_eq!(without_password("valkey+cluster://a:1,b:2"), "valkey+cluster://a:1,b:2");
    }

    #[test]
    fn a_password_is_found_wherever_it_may_be() {
        for url in ["valkey://me:p@ss@host:1/2", "valkeys://:p@host", "postgres://host/db?sslmode=require&password=x"] {
            assert!(holds_password(url), "{url}");
        }
        for url in ["sqlite:jobs.db", "postgres://me@host:5/db?sslmode=require", "http://127.0.0.1:7070", "a:b@c"] {
            assert!(!holds_password(url), "{url}");
        }
    }
}
