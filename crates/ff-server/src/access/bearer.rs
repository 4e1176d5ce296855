//! The header with the API key.

use axum::http::{HeaderMap, header};
use ff_core::api_key::{SecretKey, unauthenticated, unknown_key};
use ff_core::engine_error::Refusal;

/// Marks the headers that may hold a key as sensitive, so that their values are never printed.
pub(crate) fn conceal(headers: &mut HeaderMap) {
    let secrets = headers.iter_mut().filter(|(name, _)| [header::AUTHORIZATION, header::COOKIE].contains(name));
    secrets.for_each(|(_, value)| value.set_sensitive(true));
}

/// Returns the key in `Authorization: Bearer ff_…`, if the header is present.
pub(crate) fn presented_key(headers: &HeaderMap) -> Result<Option<SecretKey>, Refusal> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(unauthenticated("must be given once, is given twice"));
    }
    let (scheme, key) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(unknown_key)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthenticated("must be Bearer and a key"));
    }
    SecretKey::parse(key.trim()).map(Some).map_err(|_| unknown_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> (HeaderMap, Result<Option<SecretKey>, Refusal>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        conceal(&mut headers);
        let read = presented_key(&headers);
        (headers, read)
    }

    #[test]
    fn a_key_is_read_from_its_header_which_nothing_shows_afterwards() {
        let key = format!("ff_a1_{}", "0f".repeat(32));
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let (headers, read) = read(&[&format!("{scheme} {key}")]);
            assert_eq!(read.unwrap().unwrap().expose(), key);
            assert!(!format!("{headers:?}").contains("0f0f"), "{headers:?}");
        }
        assert!(read(&[]).1.unwrap().is_none());
    }

    #[test]
    fn whatever_else_is_there_is_refused_without_being_shown() {
        let key = format!("ff_a1_{}", "0f".repeat(32));
        for bad in
            ["", "Bearer", "Bearer ", "Basic abc", &key, &format!("Bearer {key}0"), &format!("Bearer {key} {key}")]
        {
            let (headers, read) = read(&[bad]);
            let refusal = read.err().unwrap_or_else(|| panic!("{bad:?} was read"));
            assert!(!format!("{refusal} {refusal:?} {headers:?}").contains("0f0f"), "{refusal}");
        }
        assert!(read(&[&format!("Bearer {key}"), &format!("Bearer {key}")]).1.is_err());
    }
}
