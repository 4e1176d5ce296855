//! Flows: graphs of executions that are submitted as a whole, can grow while they run, and end with their last member.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use ff_sdk::{Context, Fault, Flow, Node};
//!
//! let ff = ff_sdk::connect("memory:").await?;
//! let worker = ff
//!     .worker("sums")
//!     .on("double", |_: Context, n: u64| async move { Ok::<_, Fault>(2 * n) })
//!     .on("add", |ctx: Context| async move {
//!         Ok::<_, Fault>(ctx.input::<u64>("left").await? + ctx.input::<u64>("right").await?)
//!     });
//! let working = tokio::spawn(worker.run());
//!
//! let sum = Flow::new("sum")
//!     .node("a", Node::new("double", &1))
//!     .node("b", Node::new("double", &2))
//!     .node("sum", Node::empty("add"))
//!     .after("sum", "a").passing("left")
//!     .after("sum", "b").passing("right");
//! let flow = ff.client().submit_flow(sum).await?;
//! assert!(flow.wait().await?.succeeded());
//! assert_eq!(flow.result("sum").await?.json::<u64>()?, 6);
//! # working.abort();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod draft;
mod events;
mod file;
mod graph;
mod growth;
mod handle;
mod join;

pub use events::FlowEvents;
pub use file::FlowFileError;
pub use graph::Flow;
pub use growth::Growth;
pub use handle::{FlowEnd, FlowHandle};
pub use join::{Joins, Node, all_of, any_of, quorum};
