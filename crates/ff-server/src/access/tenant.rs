//! Isolation of tenants: a key of one namespace has no access to data of other namespaces, and does not learn whether it
//! exists.
//!
//! The extractors for the path, the parameters and the body check every name in a request, so most handlers do not. Batches and
//! control messages check the namespace themselves.

use axum::http::request::Parts;
use ff_core::backend::Answer;
use ff_core::engine_error::{Code, Refusal};
use ff_core::types::{ExecutionId, FlowId, Namespace};
use ff_scheduler::Runtime;

use crate::access::callers::Caller;
use crate::response::problem::Problem;

/// Returns the namespace that the caller is confined to, if any.
pub(crate) fn of(parts: &Parts) -> Option<Namespace> {
    parts.extensions.get::<Caller>().and_then(|caller| caller.tenant().cloned())
}

/// Fills in the caller's own namespace if none is named, and refuses any other.
pub(crate) fn settle(own: Option<&Namespace>, named: &mut Option<Namespace>) -> Result<(), Refusal> {
    let Some(own) = own else { return Ok(()) };
    if named.as_ref().is_some_and(|named| named != own) {
        let why = format!("the key is for the namespace {own}");
        return Err(Code::Unauthorized.refusal().at("namespace").because(why));
    }
    *named = Some(own.clone());
    Ok(())
}

/// Refuses another tenant's execution with the error for a missing one.
pub(crate) async fn owns_execution(parts: &Parts, ff: &Runtime, id: &ExecutionId) -> Result<(), Problem> {
    Ok(check_execution(of(parts).as_ref(), ff, id).await?)
}

/// Refuses an execution outside the caller's namespace with the error for a missing one. A caller without a namespace may
/// access all.
pub(crate) async fn check_execution(own: Option<&Namespace>, ff: &Runtime, id: &ExecutionId) -> Answer<()> {
    let Some(own) = own else { return Ok(()) };
    let found = ff.engine_store().namespace_of(id).await?;
    if found.as_ref() == Some(own) { Ok(()) } else { Err(Code::ExecutionNotFound.refusal().into()) }
}

/// Refuses another tenant's flow with the error for a missing one.
pub(crate) async fn owns_flow(parts: &Parts, ff: &Runtime, id: &FlowId) -> Result<(), Problem> {
    let Some(own) = of(parts) else { return Ok(()) };
    let found = ff.engine_store().namespace_of_flow(id).await?;
    if found == Some(own) { Ok(()) } else { Err(Code::FlowNotFound.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_filled_in_and_no_other_is_let_through() {
        let (acme, other) = (Namespace::parse("acme").unwrap(), Namespace::parse("other").unwrap());
        for mut named in [None, Some(acme.clone())] {
            assert_eq!(settle(Some(&acme), &mut named), Ok(()));
            assert_eq!(named.as_ref(), Some(&acme));
        }
        let refusal = settle(Some(&acme), &mut Some(other.clone())).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::Unauthorized, Some("namespace")));
        let mut anything = Some(other.clone());
        assert_eq!(settle(None, &mut anything), Ok(()));
        assert_eq!(anything, Some(other));
    }
}
