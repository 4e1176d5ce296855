//! Deciding a batch: in order, over what is on the desk, loading what is missed for all at once.

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Conditions, Reply};
use ff_core::view::Stop;

use super::TakenUp;
use super::foresight::foreseen;
use super::misses::Misses;
use crate::desk::Desk;
use crate::error::SqlError;
use crate::session::Read;

/// Decides every operation, each after the ones before it, and applies what it decides to the desk.
///
/// An operation that misses something waits, and with it all that come after; but they are asked what they would miss, so
/// that one query per table serves the whole batch.
pub(super) async fn decide<R: Read>(
    reader: &mut R,
    desk: &mut Desk,
    batch: &[TakenUp],
    conditions: &[Conditions],
) -> Result<Vec<Answer<Reply>>, SqlError> {
    let mut replies = Vec::with_capacity(batch.len());
    while let Some(next) = batch.get(replies.len()) {
        let at = &conditions[replies.len()];
        match next.operation.decide(desk, at) {
            Ok(decision) => {
                decision.changes.into_iter().for_each(|change| desk.apply(change));
                if let Some((partition, ring)) = decision.ring {
                    desk.waits.rings.write(partition, ring);
                }
                replies.push(Ok(decision.reply));
            }
            Err(Stop::Refused(refusal)) => replies.push(Err(refusal.into())),
            Err(Stop::Miss(miss)) => match desk.unreadable(&miss) {
                Some(why) => replies.push(Err(EngineError::Corrupt(why))),
                None => {
                    let rest = batch.iter().zip(conditions).skip(replies.len());
                    missed(desk, rest).load(reader, desk, at).await?;
                }
            },
        }
    }
    Ok(replies)
}

/// What operations would miss, were they decided now.
fn missed<'b>(desk: &Desk, rest: impl Iterator<Item = (&'b TakenUp, &'b Conditions)>) -> Misses {
    let mut misses = Misses::default();
    for (taken_up, at) in rest {
        if let Err(Stop::Miss(miss)) = taken_up.operation.decide(desk, at)
            && desk.unreadable(&miss).is_none()
        {
            misses.add(desk, miss);
            foreseen(desk, &taken_up.operation).into_iter().for_each(|miss| misses.add(desk, miss));
        }
    }
    misses
}
