//! Links to pages of this server, for people who open them from elsewhere.

use axum::http::{HeaderMap, header};
use ff_api::PublicUrl;
use ff_core::engine_error::Refusal;

/// The base of all links.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    public_url: Option<PublicUrl>,
    scheme: &'static str,
}

impl Links {
    pub(crate) fn new(public_url: Option<PublicUrl>, tls: bool) -> Self {
        Self { public_url, scheme: if tls { "https" } else { "http" } }
    }

    /// Returns the public address of this server, if it is configured.
    pub(crate) fn public_url(&self) -> Option<&PublicUrl> {
        self.public_url.as_ref()
    }

    /// Returns whether browsers reach this server over TLS: its own, or that of a proxy in front of it.
    pub(crate) fn is_private(&self) -> bool {
        self.scheme == "https" || self.public_url.as_ref().is_some_and(|url| url.as_str().starts_with("https:"))
    }

    /// Returns the base of a link for a caller: the public address or, if none is configured, the address the caller used.
    pub(crate) fn base(&self, asked_with: &HeaderMap) -> Result<PublicUrl, Refusal> {
        if let Some(public_url) = &self.public_url {
            return Ok(public_url.clone());
        }
        let host = asked_with.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let named = format!("{}://{host}", self.scheme).parse();
        named.map_err(|_| Refusal::invalid("Host", "must name this server, because links lead there"))
    }
}
