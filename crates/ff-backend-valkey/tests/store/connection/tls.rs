//! Servers behind TLS, with certificates signed by a private authority.

use std::fs;
use std::path::Path;
use std::process::Command;

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::Perform;
use ff_core::contracts::CompleteArgs;
use tempfile::TempDir;

use super::wrong_servers::refused;
use crate::look::listeners;
use crate::support::{Flavour, Process, free_port, lone_primary};
use crate::{claim, connect, findings, options, work};

#[tokio::test]
async fn a_store_behind_tls_is_a_store() {
    let server = TlsServer::start("localhost", single);
    let store = connect(&format!("valkeys://localhost:{}?ca={}", server.port, server.authority())).await;
    runs_one(&store).await;
    assert_eq!(listeners(&server.plain), 1, "hints come over TLS as well");
    let waiting = format!("rediss://localhost:{}?durability=fsync&ca={}", server.port, server.authority());
    runs_one(&connect(&waiting).await).await;
}

#[tokio::test]
async fn a_cluster_behind_tls_is_a_store() {
    let server = TlsServer::start("127.0.0.1", lone_primary);
    let url = format!("valkeys+cluster://127.0.0.1:{}?ca={}", server.port, server.authority());
    runs_one(&connect(&url).await).await;
    refused(&format!("{url}&durability=fsync"), options(), &["durability: fsync does not work here", "a cluster"])
        .await;
}

#[tokio::test]
async fn a_server_with_an_untrusted_certificate_is_refused_in_one_line() {
    let server = TlsServer::start("localhost", single);
    let another = TlsServer::start("another.example", single);
    for url in [
        format!("valkeys://localhost:{}", server.port),
        format!("valkeys://localhost:{}?ca={}", server.port, another.authority()),
        format!("valkeys://localhost:{}?ca={}", another.port, another.authority()),
    ] {
        refused(&url, options(), &["cannot reach", "certificate"]).await;
    }
    assert_eq!(server.plain.ask(&["DBSIZE"]), ":0");
}

#[tokio::test]
async fn tls_and_none_do_not_understand_each_other_and_say_so_in_one_line() {
    let server = TlsServer::start("localhost", single);
    refused(&format!("valkey://localhost:{}", server.port), options(), &["cannot reach"]).await;
    let url = format!("valkeys://localhost:{}?ca={}", server.plain.port, server.authority());
    // The server waits for the rest of an incomplete command, and the client would wait as long.
    tokio::time::pause();
    refused(&url, options(), &["cannot reach"]).await;
    assert_eq!(server.plain.ask(&["DBSIZE"]), ":0");
}

async fn runs_one(store: &ValkeyBackend) {
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = claim(store, &id).await.task.fence;
    store.complete(CompleteArgs { execution_id: id, fence, result: None }).await.unwrap();
    assert_eq!(store.describe(&id).await.unwrap().public_state.as_str(), "completed");
    assert_eq!(findings(store).await, []);
}

/// A server with a TLS port and a plain port.
struct TlsServer {
    plain: Process,
    port: u16,
    certificates: TempDir,
}

impl TlsServer {
    /// Starts a server whose certificate names a host.
    fn start(host: &str, start: fn(&[&str]) -> Process) -> Self {
        let certificates = certificates(host);
        let port = free_port();
        let file = |name: &str| certificates.path().join(name).display().to_string();
        let (tls_port, certificate, key) = (port.to_string(), file("server.crt"), file("server.key"));
        let mut options = vec!["--tls-port", &tls_port, "--tls-cert-file", &certificate, "--tls-key-file", &key];
        options.extend(["--tls-auth-clients", "no"]);
        let plain = start(&options);
        Self { plain, port, certificates }
    }

    /// Returns the path of its authority's certificate.
    fn authority(&self) -> String {
        self.certificates.path().join("authority.crt").display().to_string()
    }
}

fn single(options: &[&str]) -> Process {
    Process::start(Flavour::Valkey, options)
}

/// Creates an authority, and a certificate for a host that it has signed.
fn certificates(host: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kind = if host.starts_with(char::is_numeric) { "IP" } else { "DNS" };
    fs::write(folder.path().join("server.ext"), format!("subjectAltName={kind}:{host}\n")).unwrap();
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(
        folder.path(),
        &format!("req -x509 {new_key} -keyout authority.key -out authority.crt -days 2 -subj /CN=authority"),
    );
    openssl(folder.path(), &format!("req {new_key} -keyout server.key -out server.csr -subj /CN=server"));
    let signed = "-CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile server.ext -out server.crt";
    openssl(folder.path(), &format!("x509 -req -in server.csr {signed}"));
    folder
}

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("openssl: {error}"));
    assert!(output.status.success(), "openssl {arguments}: {:?}", str::from_utf8(&output.stderr));
}
