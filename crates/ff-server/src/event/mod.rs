//! The room of events over HTTP.

mod watch;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use ff_core::contracts::{EventsArgs, EventsPage, check_wait};
use ff_core::event::EventCursor;
use ff_core::limits;
use ff_core::operation::check_id;
use ff_core::types::ExecutionId;
use ff_sdk::FlowFabric;
use ff_sdk::http::wire;
use tokio_util::sync::CancellationToken;

use crate::params::Params;
use crate::problem::Result;
use crate::stream::{Opening, SIGN_OF_LIFE, SIGN_OF_LIFE_MS, Telling, accepts_stream, last_heard, pushed, said};

pub(crate) use watch::of_execution;

/// What the id of an event must be.
const CURSOR: &str = "a cursor, as the id of an event has it";

/// Tells what happened anywhere since a cursor, waiting for something if asked to; or all there is to come, to whoever
/// accepts a stream of events.
pub(crate) async fn list(
    State(ff): State<FlowFabric>,
    Extension(stopping): Extension<CancellationToken>,
    opening: Opening,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let execution: Option<ExecutionId> = params.word("execution_id")?;
    if let Some(id) = &execution {
        check_id(id, &ff.backend().partitions())?;
    }
    let (args, wait_ms) = asked(params, execution, accepts_stream(&headers))?;
    if !accepts_stream(&headers) {
        return Ok(page(&ff, args, wait_ms).await?.into_response());
    }
    let room = opening.open()?;
    let after = last_heard(&headers, |text| text.parse().ok(), CURSOR)?.or(args.after.clone());
    let asked = EventsArgs { after: None, limit: limits::PAGE, ..args };
    // Whoever begins now is told where, so that coming back misses nothing even before something happens.
    let first = match after {
        Some(after) => ff.waits().next_events(EventsArgs { after: Some(after), ..asked.clone() }, 0).await?,
        None => ff.backend().events(asked.clone()).await?,
    };
    Ok(pushed(Told { ff, asked, next: Next::Page(first), stopping }, room))
}

/// One page of what happened.
async fn page(ff: &FlowFabric, args: EventsArgs, wait_ms: u64) -> Result<Json<EventsPage>> {
    Ok(Json(ff.waits().next_events(args, wait_ms).await?))
}

/// What a caller asks for, and how long it waits. A stream has no end and no pages, so nothing is said of them.
fn asked(mut params: Params, execution: Option<ExecutionId>, stream: bool) -> Result<(EventsArgs, u64)> {
    let after = params.parsed("after").map_err(|refusal| refusal.at("after"))?;
    let namespace = params.namespace()?;
    let (mut limit, mut wait_ms) = (limits::PAGE, 0);
    if !stream {
        limit = params.number("limit")?.unwrap_or(limits::PAGE_DEFAULT);
        wait_ms = params.number("wait_ms")?.unwrap_or(0);
    }
    params.done()?;
    check_wait(wait_ms)?;
    let args = EventsArgs { after, namespace, execution, limit };
    args.check()?;
    Ok((args, wait_ms))
}

/// How far a stream has come.
struct Told {
    ff: FlowFabric,
    asked: EventsArgs,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// A page that is there already, and is told whatever it holds.
    Page(EventsPage),
    From(EventCursor),
    Over,
}

/// Page after page, until the server stops: each is one event, whose id is where to go on, so that a reader that is cut off
/// in the middle of one is told all of it again, and of nothing else.
impl Telling for Told {
    async fn more(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => None,
            Next::Page(page) => Some(self.tell(&page)),
            Next::From(_) if self.stopping.is_cancelled() => None,
            Next::From(after) => {
                let args = EventsArgs { after: Some(after.clone()), ..self.asked.clone() };
                Some(match self.ff.waits().next_events(args, SIGN_OF_LIFE_MS).await {
                    Ok(page) if page.events.is_empty() && !page.missed && page.next == after => {
                        self.next = Next::From(after);
                        SIGN_OF_LIFE.to_owned()
                    }
                    Ok(page) => self.tell(&page),
                    Err(error) => said("problem", None, &wire::Problem::from(error)),
                })
            }
        }
    }
}

impl Told {
    fn tell(&mut self, page: &EventsPage) -> String {
        self.next = Next::From(page.next.clone());
        said("events", Some(&page.next), page)
    }
}
