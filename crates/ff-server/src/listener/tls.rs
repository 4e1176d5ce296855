//! TLS with a certificate and a private key from two files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ff_core::engine_error::{Code, EngineError, Refusal};
use rustls::ServerConfig;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::listener::options::TlsFiles;

/// Reads both files. An error names its file, and reveals nothing of a key.
pub(crate) fn acceptor(files: &TlsFiles) -> io::Result<TlsAcceptor> {
    let cert = &files.cert;
    let read = |error: PemError| bad("tls-cert", cert, &format!("cannot be read ({error}), must be a PEM file"));
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert).map_err(read)?.collect::<Result<_, _>>().map_err(read)?;
    if chain.is_empty() {
        return Err(bad(
            "tls-cert",
            cert,
            "holds no certificate, must be a PEM file of the server's and those that lead to it",
        ));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| match error {
        PemError::Io(error) => bad("tls-key", &files.key, &format!("cannot be read ({error}), must be a PEM file")),
        _ => bad("tls-key", &files.key, "holds no private key, must be a PEM file of one"),
    })?;
    let algorithms = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(algorithms).with_safe_default_protocol_versions();
    let config = versions.map_err(io::Error::other)?.with_no_client_auth().with_single_cert(chain, key);
    let config = config.map_err(|error| {
        bad("tls-key", &files.key, &format!("does not fit ({error}), must be the key of {}", cert.display()))
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// First byte of a TLS handshake.
const HANDSHAKE: u8 = 22;

/// Does the TLS handshake. A client that speaks plain HTTP gets an error in plain HTTP, and the result is `None`.
pub(crate) async fn accept(tls: &TlsAcceptor, mut stream: TcpStream) -> io::Result<Option<TlsStream<TcpStream>>> {
    let mut first = [0];
    let peeked = stream.peek(&mut first).await?;
    if peeked == 0 || first == [HANDSHAKE] {
        return tls.accept(stream).await.map(Some);
    }
    // Closing a connection with unread bytes resets it, and the response may be lost.
    let mut request = vec![0; 64 * 1024];
    stream.try_read(&mut request)?;
    let refusal = Refusal::new(Code::InvalidInput).because("the server speaks TLS there: use https://");
    let body = serde_json::to_string(&ff_api::Problem::from(EngineError::from(refusal)))?;
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(None)
}

fn bad(field: &str, file: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{field}: {} {why}", file.display()))
}
