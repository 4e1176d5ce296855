//! Links to pages of this server, for people outside.

use axum::http::{HeaderMap, header};
use ff_api::PublicUrl;
use ff_core::engine_error::Refusal;

/// What links begin with.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    public_url: Option<PublicUrl>,
    scheme: &'static str,
}

impl Links {
    pub(crate) fn new(public_url: Option<PublicUrl>, tls: bool) -> Self {
        Self { public_url, scheme: if tls { "https" } else { "http" } }
    }

    /// The address outsiders reach this server by, where it was told one.
    pub(crate) fn public_url(&self) -> Option<&PublicUrl> {
        self.public_url.as_ref()
    }

    /// Whether browsers reach this server over TLS: its own, or that of what stands before it.
    pub(crate) fn is_private(&self) -> bool {
        self.scheme == "https" || self.public_url.as_ref().is_some_and(|url| url.as_str().starts_with("https:"))
    }

    /// What a link begins with that a caller is told: where no public address is known, the address the caller asked at.
    pub(crate) fn base(&self, asked_with: &HeaderMap) -> Result<PublicUrl, Refusal> {
        if let Some(public_url) = &self.public_url {
            return Ok(public_url.clone());
        }
        let host = asked_with.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let named = format!("{}://{host}", self.scheme).parse();
        named.map_err(|_| Refusal::invalid("Host", "must name this server, because links lead there"))
    }
}
