//! TLS to a server: trusted certificates, and error messages that say what to do.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, InvalidMessage, RootCertStore, SignatureScheme};

/// The prefix of every message about TLS.
pub(super) const TLS: &str = "TLS: ";

/// Returns the TLS configuration of a client. The name of the server is always verified.
pub(super) fn config(trusted: RootCertStore, named: Vec<CertificateDer<'static>>) -> Result<ClientConfig, String> {
    let algorithms = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(algorithms.clone()).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| error.to_string())?;
    if named.is_empty() {
        return Ok(versions.with_root_certificates(trusted).with_no_client_auth());
    }
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(trusted), algorithms).build();
    let verifier = NamedCertificates { chains: chains.map_err(|error| error.to_string())?, named };
    // This is safe despite the name `dangerous`: only a certificate that is itself in the file needs no chain.
    Ok(versions.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// Reads the certificates in a file. Returns them as a store of authorities and as a list.
pub(super) fn trusted_by_file(file: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let shown = file.display();
    let unreadable =
        |error: PemError| format!("ca: {shown} cannot be read ({error}), must be a PEM file of certificates");
    let (mut trusted, mut named) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
        let certificate = certificate.map_err(unreadable)?;
        let odd = |error: rustls::Error| {
            format!("ca: {shown} holds a certificate that cannot be trusted ({error}), must be those of authorities")
        };
        trusted.add(certificate.clone()).map_err(odd)?;
        named.push(certificate);
    }
    if named.is_empty() {
        Err(format!("ca: {shown} holds no certificate, must be a PEM file of certificates"))
    } else {
        Ok((trusted, named))
    }
}

/// A verifier that checks chains as usual and also accepts a server's certificate that is itself in the file. A
/// certificate made by `openssl req -x509` is marked as an authority, and the usual rules refuse it as a server's.
#[derive(Debug)]
struct NamedCertificates {
    chains: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for NamedCertificates {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.chains.verify_server_cert(certificate, intermediates, server, ocsp_response, now) {
            // The validity period has been checked: it comes before the check of the certificate's use.
            Err(error) if is_authority(&error) && self.named.iter().any(|named| named == certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, server)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Returns true when the server was refused because its certificate is marked as an authority.
fn is_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    other.0.downcast_ref::<webpki::Error>() == Some(&webpki::Error::CaUsedAsEndEntity)
}

/// Returns the message of a TLS error with its remedy; `None` when TLS is not the cause.
pub(super) fn explained(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(why) = error.downcast_ref() {
            return Some(format!("{TLS}{}", explain(why)));
        }
        if error.to_string() == "tls handshake eof" {
            let why = "the server ended the connection during the handshake; if it serves plain HTTP, use http://";
            return Some(format!("{TLS}{why}"));
        }
        // The error inside an I/O error is not its source: `source` skips it and returns the error below.
        let within = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = within.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

fn explain(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server serves plain HTTP there: use http://".to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => untrusted(),
        error if is_authority(error) => untrusted(),
        rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext { expected, presented }) => {
            let server = expected.to_str();
            let kind = if matches!(expected, ServerName::IpAddress(_)) { "IP" } else { "DNS" };
            let found = match &presented[..] {
                [] => "has no subjectAltName, and a common name alone does not count".to_owned(),
                names => format!("is for {}", names.join(", ")),
            };
            format!(
                "the server's certificate {found}; make one for {server} with openssl req -x509 … \
                 -addext subjectAltName={kind}:{server}"
            )
        }
        error => error.to_string(),
    }
}

fn untrusted() -> String {
    "the server's certificate is not trusted: name the file of its authority, or of the certificate itself if it is \
     self-signed, as in https://HOST:PORT?ca=FILE"
        .to_owned()
}
