//! A real browser, controlled through its debugging pipe.

use std::env;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::process::within;

/// Names of the Chromium program in packages.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// Chromium reads commands from descriptor 3 and answers on descriptor 4. A zero byte ends each message.
const WITH_PIPE: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

const OPTIONS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A headless Chromium. It is killed when the value is dropped.
pub struct Browser {
    _process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    commands: u64,
    _profile: TempDir,
}

/// One page of a browser.
pub struct Tab<'b> {
    browser: &'b mut Browser,
    session: String,
}

impl Browser {
    pub fn start() -> Self {
        let profile = TempDir::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPE]).arg(chromium()).args(OPTIONS);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let spawned =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn();
        let mut process = spawned.unwrap_or_else(|error| panic!("the browser does not start: {error}"));
        let (stdin, stdout) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { _process: process, stdin, stdout, commands: 0, _profile: profile }
    }

    /// Opens a page.
    pub async fn open(&mut self, url: &str) -> Tab<'_> {
        let target = self.command(None, "Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.command(None, "Target.attachToTarget", attach).await;
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let opened = self.command(Some(&session), "Page.navigate", json!({ "url": url })).await;
        assert!(opened["errorText"].is_null(), "{url} cannot be opened: {opened}");
        Tab { browser: self, session }
    }

    async fn command(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.commands += 1;
        let mut command = json!({ "id": self.commands, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let mut message = command.to_string().into_bytes();
        message.push(0);
        self.stdin.write_all(&message).await.unwrap();
        within(&format!("the browser answers {method}"), self.answer(self.commands)).await
    }

    /// Returns the answer to a command and skips events.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut message = Vec::new();
            self.stdout.read_until(0, &mut message).await.unwrap();
            assert_eq!(message.pop(), Some(0), "the browser has ended");
            let mut message: Value = serde_json::from_slice(&message).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "the browser refuses: {message}");
                return message["result"].take();
            }
        }
    }
}

impl Tab<'_> {
    /// Returns the value of an expression on the page.
    pub async fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.browser.command(Some(&self.session), "Runtime.evaluate", params).await;
        assert!(answer["exceptionDetails"].is_null(), "{expression} fails: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until the page shows a text. Every change of the page triggers a check.
    pub async fn shows(&mut self, text: &str) {
        let shown = format!(
            "new Promise((shown) => {{
                const look = () => {{ if (document.body?.innerText.includes({})) shown(true); }};
                new MutationObserver(look).observe(document, {{ subtree: true, childList: true, characterData: true }});
                look();
            }})",
            json!(text)
        );
        assert_eq!(self.value(&shown).await, true);
    }
}

/// Returns the path of Chromium: the one in `FF_CHROMIUM`, otherwise the first on the search path.
fn chromium() -> PathBuf {
    if let Some(named) = env::var_os("FF_CHROMIUM") {
        return named.into();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)));
    found
        .into_iter()
        .find(|path| path.exists())
        .expect("there is no Chromium: install the package chromium, or name it in FF_CHROMIUM")
}
