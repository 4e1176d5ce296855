//! TLS to the server, verified with the system's certificate authorities or with those of a file. The server's name is always
//! verified.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// The trusted certificate authorities.
#[derive(Clone, Default)]
pub(crate) struct Tls {
    /// `None` means the system's.
    trusted: Option<Arc<RootCertStore>>,
}

impl Tls {
    /// Trusts the certificates in a file.
    pub(crate) fn trusting(file: &str) -> Result<Self, String> {
        let unreadable = |error: rustls::pki_types::pem::Error| {
            format!("ca: {file} cannot be read ({error}), must be a PEM file of certificates")
        };
        let mut trusted = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
            let odd = |error: rustls::Error| {
                format!("ca: {file} holds a certificate that cannot be trusted ({error}), must be those of authorities")
            };
            trusted.add(certificate.map_err(unreadable)?).map_err(odd)?;
        }
        if trusted.is_empty() {
            return Err(format!("ca: {file} holds no certificate, must be a PEM file of certificates"));
        }
        Ok(Self { trusted: Some(Arc::new(trusted)) })
    }

    fn config(&self) -> io::Result<ClientConfig> {
        let trusted = match &self.trusted {
            Some(trusted) => trusted.clone(),
            None => Arc::new(trusted_by_the_system()?),
        };
        let algorithms = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(algorithms).with_safe_default_protocol_versions();
        Ok(versions.map_err(io::Error::other)?.with_root_certificates(trusted).with_no_client_auth())
    }
}

fn trusted_by_the_system() -> io::Result<RootCertStore> {
    let mut trusted = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    // A system may hold certificates that cannot be read; the others still count.
    trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |error| format!(": {error}"));
        return Err(io::Error::other(format!(
            "ca: is missing and the system trusts no certificate{why}, must be a PEM file of certificates"
        )));
    }
    Ok(trusted)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = TlsChannel;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake { tls: self.clone(), host: host.to_owned() })
    }
}

/// A TLS handshake that has not begun.
pub(crate) struct Handshake {
    tls: Tls,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = TlsChannel;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<TlsChannel>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let connector = TlsConnector::from(Arc::new(self.tls.config()?));
            Ok(TlsChannel(connector.connect(name, socket).await?))
        })
    }
}

/// A TLS connection.
pub(crate) struct TlsChannel(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for TlsChannel {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for TlsChannel {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for TlsChannel {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
