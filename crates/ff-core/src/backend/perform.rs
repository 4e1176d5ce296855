//! Operations and queries as values: two methods to implement, and a typed call for each row of the tables.

use super::{Answer, BoxedAnswer};
use crate::contracts::*;
use crate::engine_error::EngineError;
use crate::operation::query::*;
use crate::operation::{Ask, Operation, Reply, operations};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::token::WaitpointToken;
use crate::types::*;

/// Performs operations and answers queries. Every operation is safe to repeat.
///
/// The typed calls below come from the tables of [`crate::operation`] and [`crate::operation::query`]; no implementation overrides them.
pub trait Perform: Send + Sync {
    /// Returns the numbers of partitions with which the store was created.
    fn partitions(&self) -> PartitionConfig;

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply>;

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply>;

    operations!(calls_of_callers);
    queries!(calls_of_callers);
}

/// A store's handler of one kind of operation or query.
pub trait Handle<Request, Reply> {
    fn handle(&self, request: Request) -> impl Future<Output = Answer<Reply>> + Send;
}

macro_rules! calls_of_callers {
    (callers { $($rows:tt)* } engine $engine:tt) => { typed_calls! { $($rows)* } };
}
use calls_of_callers;

/// Defines the typed call of each row of the tables.
macro_rules! typed_calls {
    ($($(#[$doc:meta])* $call:ident: $name:ident($args:ty) -> $reply:ident($answer:ty) $(from $from:ident($decision:ty))?;)*) => {$(
        $(#[$doc])*
        fn $call(&self, args: $args) -> BoxedAnswer<'_, $answer> {
            run(self.perform(args.into_operation()), <$args>::answer)
        }
    )*};
    ($($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $name:ident($query:ty): $value:expr;)*) => {$(
        $(#[$doc])*
        fn $call(&self $(, $arg: $type)*) -> BoxedAnswer<'_, $answer> {
            run(self.query(Query::$name($value)), |reply| match reply {
                QueryReply::$name(answer) => Some(answer),
                _ => None,
            })
        }
    )*};
}
pub(super) use typed_calls;

/// Extracts the answer from a reply.
pub(super) fn run<R: Send + 'static, T: Send + 'static>(
    reply: BoxedAnswer<'_, R>,
    answer: fn(R) -> Option<T>,
) -> BoxedAnswer<'_, T> {
    Box::pin(async move {
        let mixed_up = || EngineError::Corrupt("a request was given the reply to another".into());
        answer(reply.await?).ok_or_else(mixed_up)
    })
}
