//! A cluster: calls go to the primary that has the slot of their key.
//!
//! The client would send a call again when its connection breaks. Whether the first one was done is then lost, so that is
//! left to callers; sent again here is only what a node refused because the slot is elsewhere.

use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, SingleNodeRoutingInfo, SlotAddr};
use redis::{Client, Cmd, ConnectionAddr, ConnectionInfo, RedisError, RedisResult, TlsCertificates, Value, cmd, pipe};

use super::shared::SharedConnection;
use super::single::connect;
use super::{CONNECT_TIMEOUT, Failed, Plain, RESPONSE_TIMEOUT, last, tcp_settings};

/// How often a call may be sent on to where its slot is said to be.
const REDIRECTIONS: usize = 5;

pub(crate) struct ClusterLink {
    client: ClusterClient,
    connection: SharedConnection<ClusterConnection>,
    /// The nodes the URL names.
    seeds: Vec<ConnectionInfo>,
}

impl ClusterLink {
    pub(crate) fn to(seeds: Vec<ConnectionInfo>, trusted: Option<TlsCertificates>) -> RedisResult<Self> {
        let mut client = ClusterClientBuilder::new(seeds.clone())
            .retries(0)
            .connection_timeout(CONNECT_TIMEOUT)
            .response_timeout(RESPONSE_TIMEOUT)
            .tcp_settings(tcp_settings());
        if let Some(trusted) = trusted {
            client = client.certs(trusted);
        }
        Ok(Self { client: client.build()?, connection: SharedConnection::absent(), seeds })
    }

    /// Sends commands together to where the slot of a key is, and gives the reply to the last.
    pub(super) async fn send(&self, key: &str, commands: &[Cmd]) -> Result<Value, Failed> {
        let connect = || {
            let client = self.client.clone();
            async move { client.get_async_connection().await }
        };
        let (number, mut connection) = self.connection.get(connect).await.map_err(Failed::Unsent)?;
        let mut route = SingleNodeRoutingInfo::SpecificNode(Route::with_key(key, SlotAddr::Master));
        let mut asking = false;
        for _ in 0..REDIRECTIONS {
            let mut pipeline = pipe();
            if asking {
                pipeline.add_command(cmd("ASKING"));
            }
            commands.iter().for_each(|command| {
                pipeline.add_command(command.clone());
            });
            let sent = commands.len() + usize::from(asking);
            let error = match connection.route_pipeline(pipeline, 0, sent, route.clone()).await.and_then(last) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some((host, port)) = error.redirect_node().and_then(|(address, _)| host_and_port(address)) else {
                return Err(self.failed(number, error));
            };
            asking = error.code() == Some("ASK");
            route = SingleNodeRoutingInfo::ByAddress { host, port };
        }
        let error = (redis::ErrorKind::ClusterConnectionNotFound, "the slot moved too often");
        Err(Failed::Unsent(error.into()))
    }

    /// The client makes connections again that break. It holds on to those that only went silent, and to where the slots
    /// were.
    fn failed(&self, number: u64, error: RedisError) -> Failed {
        if error.is_timeout() {
            self.connection.broke(number);
        }
        Failed::Sent(error)
    }

    /// A connection of its own to every primary.
    pub(super) async fn primaries(&self) -> Result<Vec<Plain>, Failed> {
        let mut primaries = Vec::new();
        for client in self.known("master").await? {
            primaries.push(Plain::new(connect(&client).await.map_err(Failed::Unsent)?));
        }
        Ok(primaries)
    }

    /// Every node that can be asked, those the URL names first.
    pub(super) async fn nodes(&self) -> Vec<Client> {
        let mut nodes: Vec<_> = self.seeds.iter().filter_map(|seed| Client::open(seed.clone()).ok()).collect();
        nodes.extend(self.known("").await.unwrap_or_default());
        nodes
    }

    /// Nodes that one of the seeds knows, that have a role and no failure.
    async fn known(&self, role: &str) -> Result<Vec<Client>, Failed> {
        let mut failure = None;
        for seed in &self.seeds {
            let asked = async {
                let client = Client::open(seed.clone())?;
                cmd("CLUSTER").arg("NODES").query_async::<String>(&mut connect(&client).await?).await
            };
            match asked.await {
                Ok(nodes) => return clients(seed, &nodes, role).map_err(Failed::Unsent),
                Err(error) => failure = Some(error),
            }
        }
        let none = || (redis::ErrorKind::ClusterConnectionNotFound, "no node of the cluster is named").into();
        Err(Failed::Unsent(failure.unwrap_or_else(none)))
    }
}

/// Reads `CLUSTER NODES`: lines of id, address, flags and more.
fn clients(seed: &ConnectionInfo, nodes: &str, role: &str) -> RedisResult<Vec<Client>> {
    let mut clients = Vec::new();
    for line in nodes.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [_, address, flags, ..] = words[..] else { continue };
        let usable = flags.contains(role) && !flags.contains("fail") && !flags.contains("noaddr");
        let address = address.split(['@', ',']).next().unwrap_or_default();
        if let Some((host, port)) = host_and_port(address).filter(|_| usable) {
            let info = seed.clone().set_addr(at(seed.addr(), host, port));
            clients.push(Client::open(info)?);
        }
    }
    Ok(clients)
}

/// An address reached the way another one is. A node that nobody has told its host is where it was asked.
fn at(like: &ConnectionAddr, host: String, port: u16) -> ConnectionAddr {
    let host = match like {
        ConnectionAddr::Tcp(here, _) | ConnectionAddr::TcpTls { host: here, .. } if host.is_empty() => here.clone(),
        _ => host,
    };
    match like {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
        }
        _ => ConnectionAddr::Tcp(host, port),
    }
}

fn host_and_port(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    Some((host.trim_matches(['[', ']']).to_owned(), port.parse().ok()?))
}
