//! A cluster of three primaries, with or without replicas.

use std::process::Command;

use super::{Flavour, Process, free_port};

/// A cluster of three primaries, which are the first nodes and share all slots. Their replicas, if any, come after
/// them.
pub struct Cluster {
    pub nodes: Vec<Process>,
}

impl Cluster {
    pub fn start() -> Self {
        Self::with_replicas(0)
    }

    /// Starts a cluster whose primaries have `replicas` replicas each.
    pub fn with_replicas(replicas: usize) -> Self {
        let nodes: Vec<_> = (0..3 * (1 + replicas)).map(|_| node(&[])).collect();
        let addresses = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
        let output = Command::new("valkey-cli")
            .args(["--cluster", "create"])
            .args(addresses)
            .args(["--cluster-replicas", &replicas.to_string()])
            .arg("--cluster-yes")
            .output()
            .unwrap_or_else(|error| panic!("valkey-cli: {error}; run scripts/services to install it"));
        assert!(output.status.success(), "{:?}", str::from_utf8(&output.stdout));
        let cluster = Self { nodes };
        cluster.wait_until_whole();
        for primary in &cluster.nodes[..3] {
            let all_there = |info: &str| info.matches("state=online").count() == replicas;
            primary.wait_until(&["INFO", "replication"], all_there);
        }
        cluster
    }

    pub fn url(&self) -> String {
        let hosts: Vec<_> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("valkey+cluster://{}", hosts.join(","))
    }

    /// Waits until every primary knows the owners of all slots.
    pub fn wait_until_whole(&self) {
        self.nodes[..3].iter().for_each(wait_until_whole);
    }
}

/// Starts a cluster of one primary, which has all slots.
pub fn lone_primary(options: &[&str]) -> Process {
    let primary = node(options);
    primary.ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    wait_until_whole(&primary);
    primary
}

fn wait_until_whole(node: &Process) {
    let whole = |info: &str| info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384");
    node.wait_until(&["CLUSTER", "INFO"], whole);
}

/// Starts a node. Its data can be used while another node is away.
fn node(options: &[&str]) -> Process {
    let bus = free_port().to_string();
    let mut all = vec!["--cluster-enabled", "yes", "--cluster-port", &bus, "--cluster-node-timeout", "2000"];
    all.extend(["--cluster-require-full-coverage", "no"]);
    all.extend(options);
    Process::start(Flavour::Valkey, &all)
}
