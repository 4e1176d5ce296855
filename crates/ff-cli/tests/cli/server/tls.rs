//! TLS set up as in `docs/security.md`, and the errors for other setups.

use std::path::Path;
use std::process::Command;

use crate::world::{CommandRun, Process, World, command, run_in};

const PAGE: &str = include_str!("../../../../../docs/security.md");

/// Runs a shell command in a folder.
fn shell(folder: &Path, line: &str) {
    let output = Command::new("sh").args(["-c", line]).current_dir(folder).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{line}: {stderr}; is openssl installed?");
}

fn serve(folder: &Path) -> (Process, u16) {
    let args = ["server", "--store", "memory:", "--listen", "127.0.0.1:0"];
    let tls = ["--tls-cert", "server.crt", "--tls-key", "server.key"];
    let server = Process::start(command(folder, &[&args[..], &tls[..]].concat()));
    let url = server.url();
    (server, url.rsplit(':').next().unwrap().parse().unwrap())
}

fn list(folder: &Path, server: &str) -> CommandRun {
    run_in(folder, &["list", "--server", server])
}

#[test]
fn the_recipe_of_the_page_works() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = PAGE.split("<!-- recipe -->\n```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let make = recipe.split("\n\n").next().unwrap();
    assert!(make.starts_with("openssl req -x509 "), "{make}");
    shell(folder.path(), make);
    let (_server, port) = serve(folder.path());
    for host in ["localhost", "127.0.0.1"] {
        list(folder.path(), &format!("https://{host}:{port}?ca=server.crt")).ok();
    }
    let elsewhere = format!("https://ip6-localhost:{port}?ca=server.crt");
    assert_ne!(list(folder.path(), &elsewhere).code, Some(0));
    list(folder.path(), &format!("https://localhost:{port}")).refused(1, "certificate is not trusted");
    list(folder.path(), &format!("http://localhost:{port}")).refused(1, "the server speaks TLS there: use https://");
}

#[test]
fn a_certificate_with_a_common_name_only_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let key = "-newkey rsa:2048 -nodes -keyout server.key -out server.crt -days 2";
    shell(folder.path(), &format!("openssl req -x509 {key} -subj /CN=localhost"));
    let (_server, port) = serve(folder.path());
    for (host, name) in [("localhost", "DNS:localhost"), ("127.0.0.1", "IP:127.0.0.1")] {
        let ran = list(folder.path(), &format!("https://{host}:{port}?ca=server.crt"));
        assert!(ran.stderr.contains("has no subjectAltName"), "{}", ran.stderr);
        ran.refused(1, &format!("-addext subjectAltName={name}"));
    }
}

#[test]
fn a_name_that_is_not_in_the_certificate_is_refused_though_the_certificate_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let key = "-newkey rsa:2048 -nodes -keyout server.key -out server.crt -days 2";
    shell(folder.path(), &format!("openssl req -x509 {key} -subj /CN=x -addext subjectAltName=DNS:elsewhere.example"));
    let (_server, port) = serve(folder.path());
    list(folder.path(), &format!("https://localhost:{port}?ca=server.crt")).refused(1, "is for");
}

#[test]
fn https_to_a_server_without_tls_is_refused_with_a_hint() {
    let world = World::start();
    let folder = world.folder.path();
    shell(folder, "openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 2 -subj /CN=x");
    let server = format!("{}?ca=c", world.server.replace("http://", "https://"));
    list(folder, &server).refused(1, "use http://");
}
