//! The routes of leases: the worker protocol, and an operator's way to take a lease away.

use ff_api::{Claim, Claims, Complete, Delay, Fail, Progress, Renew, Revoke};
use ff_core::contracts::{Completed, Control, Delayed, Failed, Noted, Renewed, Revoked};

use super::book::Book;
use crate::body::Bounded;

pub(super) fn describe(book: &mut Book) {
    book.post("/v1/workers/{instance}/claim", "Hands out work, waiting for some if asked to.")
        .takes::<Claim>(Claim::BODY_BYTES)
        .answers::<Claims>(200, "What was claimed: nothing, when there was none in time.")
        .done();
    book.get("/v1/workers/{instance}/control", "Tells an instance which of its leases it lost.")
        .cursor("after")
        .wait()
        .answers::<Control>(200, "The leases lost since.")
        .done();
    book.post("/v1/executions/{id}/renew", "Lets the holder go on.")
        .takes::<Renew>(Renew::BODY_BYTES)
        .answers::<Renewed>(200, "Until when it has the lease.")
        .refused(&[409])
        .done();
    book.post("/v1/executions/{id}/progress", "Notes how far the holder is.")
        .takes::<Progress>(Progress::BODY_BYTES)
        .answers::<Noted>(200, "It was noted.")
        .refused(&[409])
        .done();
    book.post("/v1/executions/{id}/complete", "Ends an execution with what its holder produced.")
        .takes::<Complete>(Complete::BODY_BYTES)
        .answers::<Completed>(200, "It is completed.")
        .refused(&[409])
        .done();
    book.post("/v1/executions/{id}/fail", "Takes the holder's word that it went wrong; the policy says what follows.")
        .takes::<Fail>(Fail::BODY_BYTES)
        .answers::<Failed>(200, "What follows.")
        .refused(&[409])
        .done();
    book.post("/v1/executions/{id}/delay", "Puts an execution off; the same attempt goes on later.")
        .takes::<Delay>(Delay::BODY_BYTES)
        .answers::<Delayed>(200, "Until when.")
        .refused(&[409])
        .done();
    book.post("/v1/executions/{id}/revoke", "Takes an execution from its holder.")
        .takes::<Revoke>(Revoke::BODY_BYTES)
        .answers::<Revoked>(200, "The lease is gone.")
        .refused(&[409])
        .done();
}
