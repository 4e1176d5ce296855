//! A cluster: each call goes to the primary that has the slot of its key, over that node's own connection.
//!
//! The cluster connection of the client library is not used: while it asks for the slots, it polls no request, and
//! waits for its lock and for every node. One node that does not answer then silences all nodes until a call times out.
//! Here a separate task looks up the slots, and a node that does not answer holds up only the calls sent to it.
//!
//! A call is never sent again when its connection breaks, because it may have been done; callers decide about that. A
//! call is sent again only if a node refused it because the slot is elsewhere. While a slot is being moved, its keys
//! are on two nodes, and a function uses more keys than the one that routes it; such a call is refused and not sent on.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ff_core::partition::cluster_slot;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Cmd, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::node::{Node, SILENCE};
use super::single::connect;
use super::topology::{Address, SLOTS, Topology, address};
use super::{CallFailure, Plain, Post};

/// Maximum number of times that a call is redirected.
const REDIRECTIONS: usize = 5;

/// Minimum time between two lookups of the slots.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct ClusterLink(Arc<Cluster>);

struct Cluster {
    /// The nodes in the URL.
    seeds: Vec<ConnectionInfo>,
    map: Mutex<Map>,
    /// The outcome of the last slot refresh, absent until there is one. Closed when no refresh is under way.
    looking: Mutex<Option<watch::Receiver<Option<RedisResult<()>>>>>,
    /// Number of times that slots came to another primary.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Map {
    /// The primary of each slot. Empty until the first refresh.
    slots: Vec<Option<Arc<Node>>>,
    /// Every known node.
    nodes: HashMap<Address, Arc<Node>>,
}

impl ClusterLink {
    pub(crate) fn to(seeds: Vec<ConnectionInfo>) -> Self {
        let (map, looking) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Cluster { seeds, map, looking, changes: watch::Sender::new(0) }))
    }

    /// Sends commands together to the primary that has the slot of a key, and returns the last reply.
    pub(super) async fn send(&self, key: &str, commands: &[Cmd]) -> Result<Value, CallFailure> {
        let slot = cluster_slot(key);
        let mut node = self.0.owner(slot).await.map_err(CallFailure::Unsent)?;
        let mut asking = false;
        for _ in 0..REDIRECTIONS {
            let look = || drop(self.0.look_up());
            if node.is_failing() {
                look();
                let failed = (ErrorKind::ClusterConnectionNotFound, "the cluster takes its primary for failed");
                return Err(CallFailure::Unsent(failed.into()));
            }
            let failed = match node.ask(commands, asking, look).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let (CallFailure::Sent(error) | CallFailure::Unsent(error)) = &failed;
            let Some(elsewhere) = error.redirect_node().and_then(|(named, _)| address(named)) else {
                if error.is_io_error() || matches!(error.code(), Some("CLUSTERDOWN" | "READONLY")) {
                    look();
                }
                return Err(failed);
            };
            asking = error.code() == Some("ASK");
            if asking && commands.iter().any(calls_a_function) {
                return Err(failed);
            }
            node = self.0.redirected(slot, &node, elsewhere, asking).map_err(CallFailure::Unsent)?;
        }
        Err(CallFailure::Unsent((ErrorKind::ClusterConnectionNotFound, "the slot moved too often").into()))
    }

    /// Makes a new connection to every primary that the cluster does not consider failed.
    pub(super) async fn primaries(&self) -> Result<Vec<Plain>, CallFailure> {
        self.0.wait_for_map().await.map_err(CallFailure::Unsent)?;
        let (known, mut primaries) = (self.0.map().primaries(), Vec::new());
        for node in known {
            if !node.is_failing() {
                primaries.push(Plain::new(connect(node.client()).await.map_err(CallFailure::Unsent)?));
            }
        }
        Ok(primaries)
    }

    /// Makes a new connection to the primary that has the slot of a key.
    pub(super) async fn primary_of(&self, key: &str) -> Result<Plain, CallFailure> {
        let node = self.0.owner(cluster_slot(key)).await.map_err(CallFailure::Unsent)?;
        Ok(Plain::new(connect(node.client()).await.map_err(CallFailure::Unsent)?))
    }

    /// Returns the address of the primary that is known to have the slot of a key.
    pub(super) fn address_of(&self, key: &str) -> Option<Address> {
        let map = self.0.map();
        map.slots.get(usize::from(cluster_slot(key)))?.as_ref().map(|node| node.address.clone())
    }

    /// Returns a channel that follows whether the primary of a key's slot is silent. If it is, looks up the
    /// slots, so that its return is noticed.
    pub(super) fn silence_of(&self, key: &str) -> Option<watch::Receiver<bool>> {
        let node = self.0.map().slots.get(usize::from(cluster_slot(key)))?.clone()?;
        if node.is_silent() {
            self.0.look_up();
        }
        Some(node.silence())
    }

    /// Returns every node that can be asked, silent nodes last.
    pub(super) async fn posts(&self) -> Vec<Post> {
        // If the slots stay unknown, the nodes of the URL are known all the same.
        self.0.wait_for_map().await.ok();
        let mut nodes: Vec<_> = self.0.map().nodes.values().cloned().collect();
        nodes.sort_by_key(|node| (node.is_silent(), node.address.clone()));
        let post = |node: Arc<Node>| Post { client: node.client().clone(), silence: Some(node.silence()) };
        nodes.into_iter().map(post).collect()
    }

    /// Returns a channel with the number of times that slots came to another primary.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }
}

impl Cluster {
    /// Returns the primary that has a slot.
    async fn owner(self: &Arc<Self>, slot: u16) -> RedisResult<Arc<Node>> {
        self.wait_for_map().await?;
        let owner = self.map().slots.get(usize::from(slot)).cloned().flatten();
        owner.ok_or_else(|| {
            self.look_up();
            (ErrorKind::ClusterConnectionNotFound, "no node has the slot").into()
        })
    }

    /// Waits until the slots are known.
    async fn wait_for_map(self: &Arc<Self>) -> RedisResult<()> {
        if !self.map().slots.is_empty() {
            return Ok(());
        }
        let mut looked = self.look_up();
        let outcome = looked.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or_else(|| Err((ErrorKind::Io, "the cluster was not asked: the program is stopping").into()))
    }

    /// Returns the node to which a node has redirected a call.
    fn redirected(self: &Arc<Self>, slot: u16, from: &Node, to: Address, asking: bool) -> RedisResult<Arc<Node>> {
        let (host, port) = to;
        let host = if host.is_empty() { from.address.0.clone() } else { host };
        let mut map = self.map();
        let node = map.node(self.seed()?, (host, port))?;
        if !asking {
            if let Some(owner) = map.slots.get_mut(usize::from(slot)) {
                *owner = Some(node.clone());
            }
            drop(map);
            self.look_up();
        }
        Ok(node)
    }

    /// Starts to refresh the slots, unless a refresh is under way. It is repeated while a primary does not answer.
    fn look_up(self: &Arc<Self>) -> watch::Receiver<Option<RedisResult<()>>> {
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(looking) = looking.as_ref().filter(|looking| looking.has_changed().is_ok()) {
            return looking.clone();
        }
        let (report, outcome) = watch::channel(None);
        *looking = Some(outcome.clone());
        tokio::spawn(keep_looking(Arc::downgrade(self), report));
        outcome
    }

    /// Asks every node for the slots. Waits for the other nodes only a while after the first answer. Returns whether a
    /// primary did not answer.
    async fn look(&self) -> RedisResult<bool> {
        let view = |node: Arc<Node>| async move {
            let view = node.view().await;
            (node, view)
        };
        let mut replies: FuturesUnordered<_> = self.nodes()?.into_iter().map(view).collect();
        let (mut views, mut answered, mut failure) = (Vec::new(), HashSet::new(), None);
        let mut until = None;
        loop {
            let next = match until {
                None => replies.next().await,
                Some(until) => timeout_at(until, replies.next()).await.ok().flatten(),
            };
            match next {
                Some((node, Ok(view))) => {
                    until.get_or_insert_with(|| Instant::now() + SILENCE);
                    answered.insert(node.address.clone());
                    views.push(view);
                }
                Some((_, Err(CallFailure::Sent(error) | CallFailure::Unsent(error)))) => failure = Some(error),
                None => break,
            }
        }
        match failure {
            Some(error) if views.is_empty() => Err(error),
            _ => self.adopt(&Topology::of(views), &answered),
        }
    }

    /// Applies the combined view of the nodes that answered. Returns whether a primary did not answer.
    fn adopt(&self, topology: &Topology, answered: &HashSet<Address>) -> RedisResult<bool> {
        let seed = self.seed()?;
        let mut map = self.map();
        let before = map.primaries();
        let named: BTreeSet<_> = topology.nodes();
        let seeds: Vec<_> = self.seeds.iter().filter_map(host_and_port).collect();
        map.nodes.retain(|address, _| named.contains(address) || seeds.contains(address));
        let after: BTreeSet<_> = topology.owners().flatten().collect();
        for node in before.iter().filter(|node| !answered.contains(&node.address) && !node.is_failing()) {
            // A node that answers refuses calls for slots that it does not have.
            if !after.contains(&node.address) || topology.is_failing(&node.address) {
                node.retire();
                map.nodes.remove(&node.address);
            }
        }
        let mut slots = Vec::with_capacity(SLOTS);
        for owner in topology.owners() {
            slots.push(owner.map(|address| map.node(seed, address.clone())).transpose()?);
        }
        for address in named {
            let failing = topology.is_failing(address) && !answered.contains(address);
            map.node(seed, address.clone())?.set_failing(failing);
        }
        let address = |owner: &Option<Arc<Node>>| owner.as_ref().map(|node| node.address.clone());
        let moved = !map.slots.is_empty() && !map.slots.iter().map(address).eq(slots.iter().map(address));
        map.slots = slots;
        map.nodes.values().filter(|node| !answered.contains(&node.address)).for_each(|node| node.fell_silent());
        drop(map);
        if moved {
            tracing::info!("slots of the cluster came to another primary");
            self.changes.send_modify(|changes| *changes += 1);
        }
        Ok(after.iter().any(|primary| !answered.contains(*primary)))
    }

    /// Returns every known node, including the nodes of the URL.
    fn nodes(&self) -> RedisResult<Vec<Arc<Node>>> {
        let mut map = self.map();
        for seed in &self.seeds {
            if let Some(address) = host_and_port(seed) {
                map.node(seed, address)?;
            }
        }
        Ok(map.nodes.values().cloned().collect())
    }

    fn seed(&self) -> RedisResult<&ConnectionInfo> {
        let none = || RedisError::from((ErrorKind::ClusterConnectionNotFound, "no node of the cluster is named"));
        self.seeds.first().ok_or_else(none)
    }

    fn map(&self) -> MutexGuard<'_, Map> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Map {
    /// Returns the node at an address. It is reached with the settings of a seed.
    fn node(&mut self, seed: &ConnectionInfo, address: Address) -> RedisResult<Arc<Node>> {
        if let Some(node) = self.nodes.get(&address) {
            return Ok(node.clone());
        }
        let node = Arc::new(Node::like(seed, address.clone())?);
        self.nodes.insert(address, node.clone());
        Ok(node)
    }

    /// Returns each primary once.
    fn primaries(&self) -> Vec<Arc<Node>> {
        let mut primaries: Vec<Arc<Node>> = Vec::new();
        for owner in self.slots.iter().flatten() {
            if !primaries.iter().any(|known| Arc::ptr_eq(known, owner)) {
                primaries.push(owner.clone());
            }
        }
        primaries
    }
}

/// Looks up the slots until every primary answers, with a pause after each lookup.
async fn keep_looking(cluster: Weak<Cluster>, report: watch::Sender<Option<RedisResult<()>>>) {
    while let Some(cluster) = cluster.upgrade() {
        let looked = cluster.look().await;
        drop(cluster);
        let is_one_away = matches!(looked, Ok(true));
        report.send_replace(Some(looked.map(drop)));
        #[allow(clippy::disallowed_methods, reason = "nothing signals that a replica was promoted")]
        sleep(PAUSE).await;
        if !is_one_away {
            return;
        }
    }
}

fn calls_a_function(command: &Cmd) -> bool {
    matches!(command.args_iter().next(), Some(redis::Arg::Simple(b"FCALL")))
}

fn host_and_port(seed: &ConnectionInfo) -> Option<Address> {
    match seed.addr() {
        redis::ConnectionAddr::Tcp(host, port) | redis::ConnectionAddr::TcpTls { host, port, .. } => {
            Some((host.clone(), *port))
        }
        _ => None,
    }
}
