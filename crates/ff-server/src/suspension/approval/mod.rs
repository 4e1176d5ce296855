//! The approval link: a page that shows a question and takes the answer, for people who have only a browser.
//!
//! The token in the link is the only credential. A GET changes nothing, because mail programs open links on their own; only the
//! form decides. All links with an invalid token or target get the same response.

mod budget;
mod form;
mod page;
mod state;
mod time_format;

use axum::extract::{Request, State};
use ff_api::ApprovalQuery;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{DeliverArgs, DeliveredSignal, WaitpointRef};
use ff_core::engine_error::{Code, EngineError};
use ff_core::operation::check_id;
use ff_core::payload::Payload;
use ff_core::signal::{Effect, Source};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};
use ff_scheduler::Runtime;
use form::{Answer, Form};
use page::Page;
use state::ApprovalState;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::request::params::Params;
use crate::request::path::{Id, Waitpoint};
use crate::response::problem::{Problem, Result};
use crate::signal;

/// Idempotency key of every answer through a link: a waitpoint takes one such answer, and the first one counts.
const LINK_KEY: &str = "approval-link";

/// Source of a signal through a link.
const LINK: &str = "link";

/// Shows the question. Decides nothing.
pub(crate) async fn show(
    State(ff): State<Runtime>,
    caller: Caller,
    id: Result<Id>,
    waitpoint: Result<Waitpoint>,
    query: Result<Params<ApprovalQuery>>,
) -> Page {
    if let Err(wait) = caller.ask() {
        return Page::too_often(wait);
    }
    let token = query.ok().and_then(|Params(query)| query.token).unwrap_or_default();
    let Some(link) = Link::named(&ff, id, waitpoint, token) else { return no_link(&caller) };
    let looked = link.look(&ff).await;
    signal::count_wrong(&caller, looked.as_ref().err());
    looked.map_or_else(|error| Page::without(&error), |standing| Page::of(&standing, &link.token, SystemClock.now()))
}

/// Submits the answer and shows its effect.
pub(crate) async fn decide(
    State(ff): State<Runtime>,
    caller: Caller,
    id: Result<Id>,
    waitpoint: Result<Waitpoint>,
    request: Request,
) -> Page {
    if let Err(wait) = caller.ask() {
        return Page::too_often(wait);
    }
    let form = match Form::read(request).await {
        Ok(form) => form,
        Err(problem) => return Page::bad_form(&problem),
    };
    let Some(link) = Link::named(&ff, id, waitpoint, form.token) else { return no_link(&caller) };
    if !form.additions.is_empty() {
        match link.look(&ff).await {
            Ok(ApprovalState::Open(question)) => match budget::raise(&ff, &question.over, &form.additions).await {
                Ok(()) => form.additions.iter().for_each(|added| {
                    audit::raised_by_link(&caller, &link.execution, &added.budget, &added.dimension, added.amount);
                }),
                Err(EngineError::Refused(refusal)) => return Page::bad_form(&Problem::from(refusal)),
                Err(error) => return Page::without(&error),
            },
            Ok(standing) => return Page::too_late(&standing, &link.token, SystemClock.now()),
            Err(error) => {
                signal::count_wrong(&caller, Some(&error));
                return Page::without(&error);
            }
        }
    }
    let answered = link.answer(&ff, form.answer, form.comment).await;
    signal::count_wrong(&caller, answered.as_ref().err());
    match answered {
        Ok((delivered, counts)) => {
            if delivered.effect != Effect::Duplicate {
                audit::decided_by_link(&caller, &link.execution, &link.waitpoint, &form.answer.signal(), &delivered);
            }
            Page::answered(form.answer, counts, delivered.effect)
        }
        Err(error) if matches!(error.code(), Code::WaitpointClosed | Code::TargetNotSignalable) => {
            let looked = link.look(&ff).await;
            let too_late = |standing| Page::too_late(&standing, &link.token, SystemClock.now());
            looked.map_or_else(|error| Page::without(&error), too_late)
        }
        Err(error) => Page::without(&error),
    }
}

/// Returns the page for an id that cannot exist, which is the same as for a missing one.
fn no_link(caller: &Caller) -> Page {
    caller.was_wrong();
    Page::without(&Code::InvalidToken.into())
}

/// The target of a link, and its token.
struct Link {
    execution: ExecutionId,
    waitpoint: WaitpointId,
    token: PresentedToken,
}

impl Link {
    /// Returns the link, if its ids are valid.
    fn named(ff: &Runtime, id: Result<Id>, waitpoint: Result<Waitpoint>, token: String) -> Option<Self> {
        let (Id(execution), Waitpoint(waitpoint)) = (id.ok()?, waitpoint.ok()?);
        check_id(&execution, &ff.backend().partitions()).ok()?;
        Some(Self { execution, waitpoint, token: PresentedToken::new(token) })
    }

    /// Returns the state of the approval, if the token is valid.
    async fn look(&self, ff: &Runtime) -> std::result::Result<ApprovalState, EngineError> {
        state::verify_token(ff, &self.execution, &self.waitpoint, &self.token).await?;
        state::of(ff, &self.execution, &self.waitpoint).await
    }

    /// Delivers an answer, and returns the answer that counts, which may be an earlier one.
    async fn answer(
        &self,
        ff: &Runtime,
        answer: Answer,
        comment: Option<String>,
    ) -> std::result::Result<(DeliveredSignal, Answer), EngineError> {
        let payload = comment.map(|comment| Payload::json(serde_json::json!({ "comment": comment }).to_string()));
        let args = DeliverArgs {
            source: Source::parse(LINK, None)?,
            payload,
            idempotency_key: Some(link_key()),
            dedup_ttl_ms: ff_core::limits::SPAN_MAX_MS,
            ..DeliverArgs::new(self.execution, WaitpointRef::Id(self.waitpoint), self.token.clone(), answer.signal())
        };
        let delivered = ff.backend().deliver(args).await?;
        if delivered.effect != Effect::Duplicate {
            return Ok((delivered, answer));
        }
        let first = ff.backend().signal(&self.execution, &delivered.signal_id).await?;
        Ok((delivered, Answer::of(&first.signal.name).unwrap_or(answer)))
    }
}

fn link_key() -> IdempotencyKey {
    IdempotencyKey::parse(LINK_KEY).unwrap_or_else(|error| unreachable!("{LINK_KEY} is a key: {error}"))
}
