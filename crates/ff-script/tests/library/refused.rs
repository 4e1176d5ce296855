//! The check of a refused call: the code is right, and nothing is written.

use ff_core::engine_error::Code;
use ff_script::ScriptError;

use crate::wire::Wire;

/// Checks that a call is refused with a code, and that it writes nothing.
pub(crate) async fn assert_refused<T>(
    wire: &Wire,
    case: &str,
    code: Code,
    call: impl Future<Output = Result<T, ScriptError>>,
) {
    let before = wire.contents().await;
    let Err(error) = call.await else { panic!("{case} was not refused with {code}") };
    assert_eq!(error.refusal().map(|refusal| refusal.code), Some(code), "{case}: {error}");
    assert_eq!(wire.contents().await, before, "{case} wrote something");
}
