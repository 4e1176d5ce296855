//! The owners of slots, as the nodes of a cluster report them.
//!
//! A node is asked for `CLUSTER SLOTS`, which has the addresses that clients use, and for `CLUSTER NODES`, which has
//! the configuration epoch of each node. Nodes may disagree while a failover spreads. If two nodes are reported for a
//! slot, the node with the higher epoch has it.

use std::collections::{BTreeSet, HashMap};

use redis::{Cmd, FromRedisValue, RedisResult, Value, cmd};

/// Number of slots of a cluster.
pub(super) const SLOTS: usize = 16_384;

/// The host and the port of a node. An empty host means the host of the node that reported it.
pub(super) type Address = (String, u16);

/// Returns the commands whose replies [`View::read`] reads, in this order.
pub(super) fn questions() -> [Cmd; 2] {
    [cmd("CLUSTER").arg("SLOTS").clone(), cmd("CLUSTER").arg("NODES").clone()]
}

/// One node's view of the cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// First and last slot, the node that has them, and its epoch.
    ranges: Vec<(u16, u16, Address, u64)>,
    /// Replicas, in no order.
    replicas: BTreeSet<Address>,
    /// Nodes that the cluster considers failed or suspects.
    failing: BTreeSet<Address>,
}

impl View {
    /// Parses the replies of a node that was reached at `host`.
    pub(super) fn read(slots: Value, nodes: Value, host: &str) -> RedisResult<Self> {
        let nodes = String::from_redis_value(nodes)?;
        let nodes: HashMap<_, _> = nodes.lines().filter_map(NodeLine::read).collect();
        let mut view = Self::default();
        for range in Vec::<Value>::from_redis_value(slots)? {
            let mut range = Vec::<Value>::from_redis_value(range)?.into_iter();
            let (Some(first), Some(last), Some(primary)) = (range.next(), range.next(), range.next()) else { continue };
            let (first, last) = (u16::from_redis_value(first)?, u16::from_redis_value(last)?);
            let (address, id) = endpoint(primary, host)?;
            let line = nodes.get(&id);
            if line.is_some_and(|line| line.failing) {
                view.failing.insert(address.clone());
            }
            view.ranges.push((first, last, address, line.map_or(0, |line| line.epoch)));
            for replica in range {
                view.replicas.insert(endpoint(replica, host)?.0);
            }
        }
        Ok(view)
    }
}

/// The line of a node in `CLUSTER NODES`.
struct NodeLine {
    failing: bool,
    epoch: u64,
}

impl NodeLine {
    /// Parses a line with the fields id, address, flags, primary, ping, pong, epoch and more.
    fn read(line: &str) -> Option<(String, Self)> {
        let words: Vec<_> = line.split(' ').collect();
        let [id, _, flags, _, _, _, epoch, ..] = words[..] else { return None };
        let failing = flags.split(',').any(|flag| matches!(flag, "fail" | "fail?"));
        Some((id.to_owned(), Self { failing, epoch: epoch.parse().ok()? }))
    }
}

/// Returns the address and the id of a node in a reply to `CLUSTER SLOTS`.
fn endpoint(node: Value, host: &str) -> RedisResult<(Address, String)> {
    let mut fields = Vec::<Value>::from_redis_value(node)?.into_iter();
    let named = fields.next().map(Option::<String>::from_redis_value).transpose()?.flatten();
    let port = fields.next().map(u16::from_redis_value).transpose()?.unwrap_or_default();
    let id = fields.next().map(String::from_redis_value).transpose()?.unwrap_or_default();
    // A node that does not know its host is at the address where it was asked.
    let named = named.filter(|named| !matches!(named.as_str(), "" | "?")).unwrap_or_else(|| host.to_owned());
    Ok(((named, port), id))
}

/// The combined views of several nodes.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// The primary of each slot and its epoch.
    owners: Vec<Option<(Address, u64)>>,
    replicas: BTreeSet<Address>,
    failing: BTreeSet<Address>,
}

impl Topology {
    pub(super) fn of(views: impl IntoIterator<Item = View>) -> Self {
        let mut all = Self { owners: vec![None; SLOTS], ..Self::default() };
        for view in views {
            for (first, last, address, epoch) in view.ranges {
                let slots = usize::from(first)..=usize::from(last).min(SLOTS - 1);
                for owner in all.owners.get_mut(slots).into_iter().flatten() {
                    if owner.as_ref().is_none_or(|(_, known)| epoch > *known) {
                        *owner = Some((address.clone(), epoch));
                    }
                }
            }
            all.replicas.extend(view.replicas);
            all.failing.extend(view.failing);
        }
        all
    }

    /// Returns the primary of each slot, in the order of the slots.
    pub(super) fn owners(&self) -> impl Iterator<Item = Option<&Address>> {
        self.owners.iter().map(|owner| owner.as_ref().map(|(address, _)| address))
    }

    /// Returns every node that has slots, and every replica.
    pub(super) fn nodes(&self) -> BTreeSet<&Address> {
        self.owners().flatten().chain(&self.replicas).collect()
    }

    /// Returns whether some node considers this one failed.
    pub(super) fn is_failing(&self, address: &Address) -> bool {
        self.failing.contains(address)
    }
}

/// Parses `HOST:PORT`, with or without brackets around the host.
pub(super) fn address(text: &str) -> Option<Address> {
    let (host, port) = text.rsplit_once(':')?;
    Some((host.trim_matches(['[', ']']).to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn node(host: Value, port: i64, id: &str) -> Value {
        Value::Array(vec![host, Value::Int(port), text(id), Value::Array(vec![])])
    }

    fn range(first: i64, last: i64, nodes: Vec<Value>) -> Value {
        Value::Array([vec![Value::Int(first), Value::Int(last)], nodes].concat())
    }

    fn line(id: &str, flags: &str, epoch: u64) -> String {
        format!("{id} 127.0.0.1:7000@17000 {flags} - 0 0 {epoch} connected\n")
    }

    fn owner(topology: &Topology, slot: usize) -> Option<&Address> {
        topology.owners().nth(slot).flatten()
    }

    #[test]
    fn of_two_nodes_said_to_have_a_slot_the_one_with_the_higher_epoch_has_it() {
        let old = range(0, 16_383, vec![node(text("10.0.0.1"), 7000, "a"), node(text("10.0.0.2"), 7001, "b")]);
        let new = range(0, 16_383, vec![node(text("10.0.0.2"), 7001, "b")]);
        let old = View::read(Value::Array(vec![old]), text(&(line("a", "master", 1) + &line("b", "slave", 1))), "x");
        let known = line("a", "master,fail", 1) + &line("b", "myself,master", 7);
        let new = View::read(Value::Array(vec![new]), text(&known), "x");
        let (old, new) = (old.unwrap(), new.unwrap());
        let address = ("10.0.0.2".to_owned(), 7001);
        let topology = Topology::of([new, old]);
        assert_eq!(owner(&topology, 0), Some(&address));
        assert_eq!(owner(&topology, 16_383), Some(&address));
        assert_eq!(topology.nodes().len(), 1);
    }

    #[test]
    fn a_node_without_a_host_has_the_queried_host_and_a_free_slot_no_owner() {
        let slots = [Value::Nil, text(""), text("?")].into_iter().zip(0..);
        let slots = slots.map(|(host, slot)| range(slot, slot, vec![node(host, 7000, "a")])).collect();
        let view = View::read(Value::Array(slots), text(&line("a", "master,fail?", 1)), "here").unwrap();
        let topology = Topology::of([view]);
        let here = ("here".to_owned(), 7000);
        assert!((0..3).all(|slot| owner(&topology, slot) == Some(&here)));
        assert_eq!(owner(&topology, 3), None);
        assert!(topology.is_failing(&here));
    }

    #[test]
    fn a_node_that_takes_part_in_no_failover_is_not_failing() {
        let slots = Value::Array(vec![range(0, 16_383, vec![node(text("10.0.0.1"), 7000, "a")])]);
        let view = View::read(slots, text(&line("a", "myself,master,nofailover", 1)), "x").unwrap();
        assert!(!Topology::of([view]).is_failing(&("10.0.0.1".to_owned(), 7000)));
    }

    #[test]
    fn addresses() {
        assert_eq!(address("127.0.0.1:7000"), Some(("127.0.0.1".to_owned(), 7000)));
        assert_eq!(address("[::1]:7000"), Some(("::1".to_owned(), 7000)));
        assert_eq!(address(":7000"), Some((String::new(), 7000)));
        assert_eq!(address("somewhere"), None);
    }
}
