//! Passwords in store URLs, and the durability of SQLite.

/// Returns a URL without user and password, and without parameters that may be a password.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") else {
        return url.to_owned();
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    if parameters.contains('@') {
        // This is either a password with a `?` or a parameter with an `@`: the two cannot be told apart.
        return format!("{scheme}://***");
    }
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    // A parameter's name may be percent-encoded.
    let is_secret = |one: &&str| one.to_ascii_lowercase().contains("pass") || one.contains('%');
    let pairs: Vec<_> = parameters.split('&').filter(|one| !one.is_empty() && !is_secret(one)).collect();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("{scheme}://{place}{mark}{}", pairs.join("&"))
}

/// Returns true when a URL holds a password.
pub fn holds_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let named = rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    let in_query =
        rest.split_once('?').is_some_and(|(_, query)| query.split('&').any(|one| one.starts_with("password=")));
    named || in_query
}

/// The durability of a SQLite file: the parameter `synchronous` of its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// Every commit is on disk before it is acknowledged.
    Full,
    /// The last commits may be lost when the machine goes down.
    Normal,
}

#[cfg(feature = "sqlite")]
impl From<Synchronous> for ff_backend_sqlite::Durability {
    fn from(synchronous: Synchronous) -> Self {
        match synchronous {
            Synchronous::Full => Self::Full,
            Synchronous::Normal => Self::Normal,
        }
    }
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
        for file in ["sqlite:jobs.db", "sqlite:///srv/a@b/jobs.db"] {
            assert_eq!(without_password(file), file);
        }
        assert_eq!(
            without_password("postgres://host/db?password=x&sslmode=require"),
            "postgres://host/db?sslmode=require"
        );
        assert_eq!(without_password("postgres://host/db?password=x"), "postgres://host/db");
        assert_eq!(without_password("valkey+cluster://a:1,b:2"), "valkey+cluster://a:1,b:2");
        for url in [
            "postgres://u:hunter2@host/db?application_name=a",
            "postgres://host/db?password=hun@hunter2",
            "postgres://host/db?pass%77ord=hunter2",
            "postgres://host/db?sslPassword=hunter2",
            "valkey://u:?hunter2@host:1",
            "valkey://u:a/hunter2@host:1",
        ] {
            assert!(!without_password(url).contains("hunter2"), "{url}");
        }
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
