//! Options of a connection to a server: the API key, and the certificates to trust.

use std::path::PathBuf;

use ff_core::api_key::SecretKey;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use rustls::{ClientConfig, RootCertStore};

use super::tls::{self, trusted_by_file};

/// The environment variable with the API key, for options without one.
const API_KEY: &str = "FF_API_KEY";

/// Options of a connection to a server.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The API key that is sent with every request.
    pub key: Option<SecretKey>,
    /// A PEM file of certificates to trust instead of the system's.
    pub ca: Option<PathBuf>,
}

impl HttpOptions {
    /// Takes the API key from the variable `FF_API_KEY`, unless the options have one.
    pub fn or_from_environment(mut self) -> Result<Self, String> {
        let variable = std::env::var(API_KEY).ok().filter(|text| !text.is_empty());
        if let (None, Some(text)) = (&self.key, variable) {
            self.key = Some(text.trim().parse().map_err(|error| format!("{API_KEY}: is not a key, {error}"))?);
        }
        Ok(self)
    }

    /// Returns the headers of every request. The API key is marked as sensitive, so that the debug output of headers does
    /// not show it.
    pub(super) fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose()))
                .map_err(|_| "key: must be printable ASCII".to_owned())?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Returns the TLS configuration for an address. It trusts the certificates in the file `ca` or, for HTTPS without
    /// that file, the system's.
    pub(super) fn tls_for(&self, address: &Url) -> Result<ClientConfig, String> {
        let (trusted, named) = match &self.ca {
            Some(file) => trusted_by_file(file)?,
            None if address.scheme() == "https" => (trusted_by_the_system()?, Vec::new()),
            None => (RootCertStore::empty(), Vec::new()),
        };
        tls::config(trusted, named)
    }
}

fn trusted_by_the_system() -> Result<RootCertStore, String> {
    let mut trusted = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    // A system may hold certificates that cannot be read; the others still count.
    trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        return Err(
            "ca: is missing and the system trusts no certificate, must be a PEM file of certificates".to_owned()
        );
    }
    Ok(trusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sent_and_never_shown() {
        let key = format!("ff_a1_{}", "0f".repeat(32));
        let options = HttpOptions { key: Some(key.parse().unwrap()), ca: None };
        let headers = options.headers().unwrap();
        assert_eq!(headers[AUTHORIZATION], format!("Bearer {key}"));
        assert!(!format!("{options:?} {headers:?}").contains("0f0f"));
    }

    #[test]
    fn a_file_that_holds_no_certificate_is_named() {
        for (file, why) in [
            ("/nowhere/ca.pem", "cannot be read"),
            (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "no certificate"),
        ] {
            let address = Url::parse("https://host").unwrap();
            let error = HttpOptions { key: None, ca: Some(file.into()) }.tls_for(&address).unwrap_err();
            assert!(error.contains(file) && error.contains(why), "{error}");
        }
    }
}
