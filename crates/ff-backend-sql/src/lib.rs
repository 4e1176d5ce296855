//! What every SQL store shares: everything but the driver and the dialect.
//!
//! Callers queue operations; a free writer takes whatever is queued, decides it by the rules over the records it loads,
//! writes each table once and commits once. A store brings a [`Session`]: how rows are loaded, written and committed.

mod announcer;
mod batch;
mod desk;
mod error;
mod event;
mod execution;
mod flow;
mod key;
mod lane;
mod lease;
mod queries;
mod queue;
mod record;
mod schema;
mod session;
mod signal;
mod suspension;
mod table;
mod tape;
mod upkeep;
mod value;
mod worker;
mod writer;

pub use announcer::Announcer;
pub use batch::{Answered, Brought, TakenUp, execute};
pub use desk::Known;
pub use error::SqlError;
pub use event::{ReadEvents, ReadFeeds};
pub use execution::{Describe, List, NamespaceOf, ReadAttempts, ReadPayload, ReadResult};
pub use flow::{Debt, Debts, DescribeFlow, ListFlows, NamespaceOfFlow, ReadFlowEdges, ReadFlowEvents, ReadFlowMembers};
pub use key::{FindKey, ListKeys};
pub use lane::{DescribeLane, ListLanes};
pub use queries::{QUERIES, RINGS};
pub use queue::{Asker, Queue, queue, queues};
pub use schema::{
    API_KEY, ATTEMPT, DELIVERY, EDGE, EDGE_GROUP, EVENT, EXECUTION, FEED, FLOW, FLOW_EVENT, FLOW_KEY, IDEMPOTENCY,
    KEY_RING, LANE, LEASE_EVENT, PAYLOAD, RESULT, SIGNAL, SIGNAL_KEY, SUSPEND_KEY, TABLES, TAG, WAITPOINT, WORKER,
};
pub use session::{Begun, Key, Load, Put, Question, Read, Session};
pub use signal::{ListSignals, ReadDeliveries, ReadSignal};
pub use suspension::{ReadKeyRing, ReadKids, ReadWaitpointToken, ReadWaitpoints, missing_rings};
pub use table::{Column, Columns, Holds, Table};
pub use upkeep::{Sweep, TakeSnapshot};
pub use value::{Row, Value};
pub use worker::{CheckRoom, ListWorkers, ReadGoneWorkers};
pub use writer::write;
