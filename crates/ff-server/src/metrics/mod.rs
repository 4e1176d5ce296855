//! The metrics an operator watches and alerts on, in Prometheus' formats.

mod activity;
mod admission;
mod budgets;
mod capped_counter;
mod clock;
mod labels;
mod lanes;
mod listener;
mod measured_store;
mod metric_set;
mod register;
mod requests;
mod runs;
mod ticks;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ff_api::{Activity, NoQuery};
use ff_core::backend::EngineStore;
use ff_core::engine_error::{Code, Refusal};
use ff_core::types::{Namespace, TimestampMs};
use ff_scheduler::Runtime;
use lanes::Lanes;
use measured_store::MeasuredStore;
use metric_set::MetricSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::request::params::Params;
use crate::response::problem::{Problem, Result};

pub(crate) use listener::MetricsListener;
pub(crate) use requests::observe;

/// Media types of the metrics: the one that Prometheus requests by name, and the one that every scraper reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of a server. Clones share them.
///
/// [`Metrics::over`] counts the calls to a store. A server serves these metrics if it gets the same value with
/// [`crate::Server::measured`]:
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use ff_server::{Metrics, Server};
///
/// let metrics = Metrics::new();
/// let store = metrics.over(std::sync::Arc::new(ff_backend_memory::MemoryBackend::default()));
/// let runtime = ff_scheduler::Runtime::start(store);
/// let server = Server::bind("127.0.0.1:0".parse()?, runtime.clone()).await?.measured(metrics);
/// # drop(server);
/// # runtime.stop().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Metrics(Arc<MetricState>);

struct MetricState {
    registry: Registry,
    gathered: Arc<MetricSet>,
    lanes: Lanes,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Creates metrics with all counters at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("ff");
        let gathered = Arc::new(MetricSet::registered(&mut registry));
        let lanes = Lanes::registered(&mut registry);
        Self(Arc::new(MetricState { registry, gathered, lanes }))
    }

    /// Wraps a store so that every call to it is counted and timed here.
    pub fn over(&self, store: Arc<dyn EngineStore>) -> Arc<dyn EngineStore> {
        Arc::new(MeasuredStore::new(store, self.0.gathered.clone()))
    }

    /// Returns the executions that ended in the last hour, of one namespace or of all.
    pub(crate) fn activity(&self, of: Option<&Namespace>, now: TimestampMs) -> Activity {
        self.0.gathered.activity.read(of, now)
    }

    /// Returns all metrics as text. Reads the lanes from the store only if the last values are too old.
    async fn text(&self, ff: &Runtime) -> std::result::Result<String, std::fmt::Error> {
        self.0.lanes.look(ff).await;
        let mut text = String::new();
        encode(&mut text, &self.0.registry)?;
        Ok(text)
    }
}

/// Serves the metrics to Prometheus.
pub(crate) async fn show(
    State(ff): State<Runtime>,
    State(metrics): State<Option<Metrics>>,
    headers: HeaderMap,
    _: Params<NoQuery>,
) -> Result<Response> {
    let nothing = || Refusal::new(Code::NotFound).because("this server collects no metrics");
    render(&metrics.ok_or_else(nothing)?, &ff, &headers).await
}

async fn render(metrics: &Metrics, ff: &Runtime, headers: &HeaderMap) -> Result<Response> {
    let text = metrics.text(ff).await;
    let text = text.map_err(|error| Problem::defect(&format!("the metrics cannot be written: {error}")))?;
    let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("application/openmetrics-text"));
    let (media_type, text) =
        if headers.get_all(header::ACCEPT).iter().any(accepts) { (OPEN_METRICS, text) } else { (PLAIN, plain(&text)) };
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}

/// Converts OpenMetrics to the older text format, which describes a counter under the name of its samples and has neither units
/// nor an end marker.
fn plain(open_metrics: &str) -> String {
    let counters: Vec<&str> =
        open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT ")) {
        let described = ["# HELP ", "# TYPE "].iter().find_map(|word| Some((*word, line.strip_prefix(word)?)));
        match described.and_then(|(word, rest)| Some((word, rest.split_once(' ')?))) {
            Some((word, (name, rest))) if counters.contains(&name) => {
                text.push_str(&format!("{word}{name}_total {rest}\n"));
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_format_describes_every_metric_under_the_name_of_its_samples() {
        let open_metrics = "# HELP ff_claims Claims.\n# TYPE ff_claims counter\nff_claims_total 1\n# HELP ff_up Up.\n\
                            # TYPE ff_up gauge\n# UNIT ff_up seconds\nff_up 1\n# EOF\n";
        let expected = "# HELP ff_claims_total Claims.\n# TYPE ff_claims_total counter\nff_claims_total 1\n\
                        # HELP ff_up Up.\n# TYPE ff_up gauge\nff_up 1\n";
        assert_eq!(plain(open_metrics), expected);
    }
}
