//! How a server is reached: by which key, and by whom it proves its name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ff_core::key::SecretKey;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::{ClientConfig, RootCertStore};

/// Where a key is found when none is given.
const API_KEY: &str = "FF_API_KEY";

/// What a connection to a server may need.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The key every request is made with.
    pub key: Option<SecretKey>,
    /// Certificates to trust in place of the system's.
    pub ca: Option<PathBuf>,
}

impl HttpOptions {
    /// The key given here, or the one in the variable `FF_API_KEY`.
    pub(crate) fn or_from_environment(mut self) -> Result<Self, String> {
        let said = std::env::var(API_KEY).ok().filter(|text| !text.is_empty());
        if let (None, Some(text)) = (&self.key, said) {
            self.key = Some(text.trim().parse().map_err(|error| format!("{API_KEY} is not a key: {error}"))?);
        }
        Ok(self)
    }

    /// The headers of every request. The key in them is marked, so that nothing that shows headers shows it.
    pub(super) fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose()))
                .map_err(|_| "the key cannot be sent".to_owned())?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// TLS as both ends speak it, where the address asks for it. A server is always asked to prove its name.
    pub(super) fn tls_for(&self, address: &Url) -> Result<ClientConfig, String> {
        let trusted = match &self.ca {
            Some(file) => trusted_by_file(file)?,
            None if address.scheme() == "https" => trusted_by_the_system()?,
            None => RootCertStore::empty(),
        };
        let algorithms = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(algorithms).with_safe_default_protocol_versions();
        let versions = versions.map_err(|error| error.to_string())?;
        Ok(versions.with_root_certificates(trusted).with_no_client_auth())
    }
}

fn trusted_by_file(file: &Path) -> Result<RootCertStore, String> {
    let named = file.display();
    let unreadable = |error: PemError| format!("ca={named} cannot be read: {error}");
    let mut trusted = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
        let odd = |error: rustls::Error| format!("ca={named} is not a certificate to trust: {error}");
        trusted.add(certificate.map_err(unreadable)?).map_err(odd)?;
    }
    if trusted.is_empty() { Err(format!("ca={named} holds no certificate")) } else { Ok(trusted) }
}

fn trusted_by_the_system() -> Result<RootCertStore, String> {
    let mut trusted = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    // A system may hold certificates that cannot be read; the others still count.
    trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        return Err("this system trusts nobody, and ca=FILE is not said".to_owned());
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
