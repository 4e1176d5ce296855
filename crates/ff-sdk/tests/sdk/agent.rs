//! The example agent, killed in the middle of its work.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use ff_sdk::Search;
use ff_sdk::core::step::StepKind;
use ff_sdk::core::types::ExecutionId;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// The agent as a process, in a folder of its own.
struct Agent {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Agent {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(program());
        let spawned = command.current_dir(folder).stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut process = spawned.unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
        line.expect("the agent said nothing for twenty seconds").unwrap()
    }

    /// Kills the agent, as a power cut would, after it has printed a line with this beginning.
    async fn kill_after(mut self, beginning: &str) {
        while let Some(line) = self.line().await {
            if line.starts_with(beginning) {
                return self.process.kill().await.unwrap();
            }
        }
        panic!("the agent ended without saying {beginning:?}");
    }
}

/// The example, which cargo builds together with this test.
fn program() -> PathBuf {
    let test = env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples/agent");
    assert!(path.exists(), "there is no {}: build it with `cargo build -p ff-sdk --examples`", path.display());
    path
}

/// Returns how often each tool was called, from the log that the tools write.
fn calls(folder: &Path) -> BTreeMap<String, usize> {
    let log = fs::read_to_string(folder.join("tools.log")).unwrap_or_default();
    let mut calls = BTreeMap::new();
    log.lines().for_each(|line| *calls.entry(line.to_owned()).or_default() += 1);
    calls
}

/// Returns the number of recorded tool calls. They are made in the order of [`TOOLS`].
async fn recorded(folder: &Path) -> usize {
    if !folder.join("agent.db").exists() {
        return 0;
    }
    let ff = ff_sdk::connect(&format!("sqlite:{}", folder.join("agent.db").display())).await.unwrap();
    let client = ff.client();
    let mut found = client.search(Search::all().kind("agent")).unwrap();
    let id: ExecutionId = found.next().await.unwrap().unwrap().execution_id;
    assert!(found.next().await.is_none(), "every start is about the same execution");
    let steps = client.steps(&id).await.unwrap();
    ff.shutdown().await;
    steps.iter().filter(|step| step.step.kind == StepKind::Step && step.step.name.as_str() == "tool").count()
}

/// Returns the tokens that the budget has counted, and how often the budget paused the agent.
async fn spent(folder: &Path) -> (u64, usize) {
    let ff = ff_sdk::connect(&format!("sqlite:{}", folder.join("agent.db").display())).await.unwrap();
    let client = ff.client();
    let budget = client.budget("agent").unwrap().describe().await.unwrap();
    let mut found = client.search(Search::all().kind("agent")).unwrap();
    let id = found.next().await.unwrap().unwrap().execution_id;
    let steps = client.steps(&id).await.unwrap();
    ff.shutdown().await;
    let stops =
        steps.iter().filter(|step| step.step.kind == StepKind::Wait && step.step.name.as_str() == "usage report");
    (budget.balance.into_values().next().unwrap().used, stops.count())
}

const TOOLS: [&str; 3] = ["weather Lisbon", "flights Lisbon", "book TP 571"];

#[tokio::test]
async fn a_killed_agent_calls_no_tool_again() {
    let folder = tempfile::tempdir().unwrap();
    // In a model call, after a tool call, after the budget was raised, after an approval, after money was spent.
    for beginning in ["token: weather", "tool: weather", "budget: ", "tool: flights", "approval: ", "tool: book"] {
        let before = (calls(folder.path()), recorded(folder.path()).await);
        Agent::start(folder.path()).kill_after(beginning).await;
        for tool in &TOOLS[..before.1] {
            assert_eq!(calls(folder.path())[*tool], before.0[*tool], "{tool} was recorded, and called again");
        }
    }
    // The second start finds that all work is done.
    for _ in 0..2 {
        let mut agent = Agent::start(folder.path());
        let mut last = String::new();
        while let Some(line) = agent.line().await {
            last = line;
        }
        assert!(agent.process.wait().await.unwrap().success());
        assert_eq!(last, "result: You fly with TP 571. Take sunglasses with you.");
    }
    assert_eq!(recorded(folder.path()).await, TOOLS.len());
    assert_eq!(spent(folder.path()).await, (29, 1), "every token counts once, and the budget asked once");
    assert_eq!(calls(folder.path()).len(), TOOLS.len());
}
