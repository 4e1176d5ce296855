//! Connecting. All checks that write nothing come first; then the library, the partition counts and the token secrets
//! are written.

use std::sync::Arc;

use ff_core::backend::outage::OutageLog;
use ff_core::keys::global_config_partitions;
use ff_core::partition::PartitionConfig;
use ff_script::engine::ff_configure_partitions;
use ff_script::{LibraryClock, check_library, ensure_library};
use futures_util::future::BoxFuture;
use redis::{Client, FromRedisValue, cmd};
use tokio_util::sync::CancellationToken;

use super::probe::{self, probe, refusal};
use crate::call::{Calls, FsyncGroup, LibraryLoads};
use crate::directory::Directory;
use crate::flow::reconcile::Sweeps;
use crate::hints::{Announcer, pass_on, subscribe};
use crate::lane::counter::LaneCounter;
use crate::link::{ClusterLink, Link, Plain, SingleLink, call_failed, connect as connect_to};
use crate::suspension::secrets::{self, Secrets};
use crate::{ConnectError, Durability, StoreLocation, ValkeyBackend, ValkeyOptions};

impl ValkeyBackend {
    /// Connects to `valkey://HOST:PORT`, `valkeys://` for TLS, or either with `+cluster`. `redis` and `rediss` mean the
    /// same.
    ///
    /// Checks the server first, and writes only if the server can be used: the library, if the server has none or an
    /// older one; the partition counts, if the store is new; the token secrets, where a partition has none.
    pub async fn connect(url: &str, options: ValkeyOptions) -> Result<Self, ConnectError> {
        Self::connecting(url, options).await
    }

    /// Boxes the future, so that it is compiled here and not again in every program that connects.
    #[inline(never)]
    fn connecting(url: &str, options: ValkeyOptions) -> BoxFuture<'_, Result<Self, ConnectError>> {
        Box::pin(connect(url, options))
    }
}

async fn connect(url: &str, options: ValkeyOptions) -> Result<ValkeyBackend, ConnectError> {
    use_one_tls_provider();
    let place = StoreLocation::parse(url)?;
    let config = read_config(&options, &place)?;
    let link = look(&place).await?;
    let (link, loading, directory) = (Arc::new(link), LibraryLoads::default(), Directory::default());
    let mut calls = Calls { link, clock: options.clock, fsync: None, loading, directory };
    let stored = stored(&calls).await?;
    if stored.is_none() && options.existing {
        return Err(ConnectError::NoStore);
    }
    if let (Some(stored), Some(config)) = (stored, config)
        && stored != config
    {
        return Err(ConnectError::Partitions { stored, requested: config });
    }
    let primaries = calls.link.primaries().await.map_err(|failed| call_failed(&failed))?;
    if place.durability.unwrap_or(options.durability) == Durability::Fsync {
        calls.fsync = Some(fsync(&place, &primaries).await?);
    }
    check_durability(&place, &primaries, options.strict_durability).await?;
    give_library(&primaries, calls.library_clock()).await?;
    let wanted = stored.or(config).unwrap_or_default();
    let partitions =
        ff_configure_partitions(&calls, &wanted).await.map_err(|error| ConnectError::Server(error.into()))?;
    if let Some(config) = config.filter(|config| *config != partitions) {
        return Err(ConnectError::Partitions { stored: partitions, requested: config });
    }
    secrets::ensure(&calls, &partitions, &*options.entropy)
        .await
        .map_err(|error| ConnectError::Server(error.into()))?;
    finish(calls, partitions, options.entropy).await
}

/// Starts the store's listener, and returns the store.
async fn finish(
    calls: Calls,
    partitions: PartitionConfig,
    entropy: Arc<dyn ff_core::backend::entropy::Entropy>,
) -> Result<ValkeyBackend, ConnectError> {
    let (calls, announcer, outages) = (Arc::new(calls), Announcer::new(), Arc::<OutageLog>::default());
    let posts = calls.link.listening_posts().await;
    let subscription = subscribe(posts).await.map_err(|error| refusal("the server of hints", &error))?;
    let stopped = CancellationToken::new();
    let listening = stopped.clone().drop_guard();
    let passing = pass_on(subscription, calls.clone(), announcer.clone(), outages.clone());
    tokio::spawn(async move { stopped.run_until_cancelled(passing).await });
    let lane_counter = LaneCounter::start(calls.clone(), partitions);
    Ok(ValkeyBackend {
        calls,
        partitions,
        entropy,
        announcer,
        outages,
        submissions: Arc::default(),
        completions: Arc::default(),
        secrets: Secrets::default(),
        sweeps: Sweeps::of(partitions.num_flow_partitions),
        lane_counter,
        _listening: listening,
    })
}

/// Chooses the provider of cryptography for TLS, because two may be linked into one program. Does nothing when the
/// program has chosen one.
fn use_one_tls_provider() {
    rustls::crypto::ring::default_provider().install_default().ok();
}

/// Returns the partition counts of the URL or the options, if any.
fn read_config(options: &ValkeyOptions, place: &StoreLocation) -> Result<Option<PartitionConfig>, ConnectError> {
    let by_url = place
        .flow_partitions
        .map(|num_flow_partitions| PartitionConfig { num_flow_partitions, ..options.partitions.unwrap_or_default() });
    let config = by_url.or(options.partitions);
    match config {
        Some(PartitionConfig { num_flow_partitions: 0, .. })
        | Some(PartitionConfig { num_budget_partitions: 0, .. })
        | Some(PartitionConfig { num_quota_partitions: 0, .. }) => {
            Err(ConnectError::NoPartitions { requested: config.unwrap_or_default() })
        }
        _ => Ok(config),
    }
}

/// Checks the server and returns a link to it. In a cluster, one node that answers is enough.
async fn look(place: &StoreLocation) -> Result<Link, ConnectError> {
    let mut failure = None;
    for node in &place.nodes {
        let address = node.addr().to_string();
        let reached = async {
            let client = Client::open(node.clone()).map_err(|error| refusal(&address, &error))?;
            let mut connection = connect_to(&client).await.map_err(|error| refusal(&address, &error))?;
            probe(&address, &mut connection).await
        };
        match reached.await {
            Ok(found) if found.cluster && !place.cluster => {
                return Err(ConnectError::IsACluster { address, scheme: place.scheme });
            }
            Ok(found) if !found.cluster && place.cluster => {
                return Err(ConnectError::NotACluster { address, scheme: place.scheme });
            }
            Ok(_) => {
                if place.cluster {
                    return Ok(Link::Cluster(ClusterLink::to(place.nodes.clone())));
                }
                let link = SingleLink::to(node.clone()).map_err(|error| refusal(&address, &error))?;
                return Ok(Link::Single(Box::new(link)));
            }
            Err(error) => failure = Some(error),
        }
    }
    Err(failure
        .unwrap_or_else(|| ConnectError::Unreachable { address: "the cluster".into(), why: "no node is named".into() }))
}

/// Reads the partition counts that the store was made with; none when it is new.
async fn stored(calls: &Calls) -> Result<Option<PartitionConfig>, ConnectError> {
    let key = global_config_partitions();
    let names = ["num_flow_partitions", "num_budget_partitions", "num_quota_partitions"];
    let reply = calls.plain(&key, cmd("HMGET").arg(&key).arg(&names)).await?;
    let counts = Vec::<Option<u16>>::from_redis_value(reply).unwrap_or_default();
    let [Some(num_flow_partitions), Some(num_budget_partitions), Some(num_quota_partitions)] = counts[..] else {
        return Ok(None);
    };
    Ok(Some(PartitionConfig { num_flow_partitions, num_budget_partitions, num_quota_partitions }))
}

/// Loads the library into every primary. Loads it nowhere if one primary has a library that this program cannot work
/// with.
async fn give_library(primaries: &[Plain], clock: LibraryClock) -> Result<(), ConnectError> {
    for primary in primaries {
        check_library(primary, clock).await?;
    }
    for primary in primaries {
        ensure_library(primary, clock).await?;
    }
    Ok(())
}

/// Warns of settings that may lose acknowledged work, or refuses them.
async fn check_durability(place: &StoreLocation, primaries: &[Plain], is_strict: bool) -> Result<(), ConnectError> {
    let address = place.nodes.iter().map(|node| node.addr().to_string()).collect::<Vec<_>>().join(",");
    let risks = probe::find(&address, primaries).await?;
    if is_strict && !risks.is_empty() {
        return Err(ConnectError::NotDurable { address, why: Vec::from_iter(risks).join("; ") });
    }
    for risk in risks {
        tracing::warn!("{address} may lose acknowledged work: {risk}");
    }
    Ok(())
}

async fn fsync(place: &StoreLocation, primaries: &[Plain]) -> Result<FsyncGroup, ConnectError> {
    match (&place.nodes[..], primaries, place.cluster) {
        ([node], [server], false) => FsyncGroup::start(node, server).await,
        _ => Err(ConnectError::NoFsync { why: "a cluster cannot be asked to wait for its disks".into() }),
    }
}
