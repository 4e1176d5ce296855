//! Forged tokens are refused, and nothing is written for them.

use futures_util::future::join_all;

use crate::prelude::*;
use crate::world::conditions::{count, key};

pub(crate) async fn forged_tokens_open_nothing_and_write_nothing(world: World) {
    forge(&world, 2_000).await;
}

/// Sends `many` forged tokens to a store, of every kind in turn, and checks that each is refused.
pub async fn forge(world: &World, many: usize) {
    let forger = Forger::new(world).await;
    let before = world.contents().await;
    let forgeries: Vec<_> = (0..many).collect();
    for some in forgeries.chunks(100) {
        let answers = join_all(some.iter().map(|nth| world.backend.deliver(forger.forgery(*nth).0))).await;
        for (nth, answer) in some.iter().zip(answers) {
            let held_back = world.is_guarded && *nth >= KINDS && is_held_back(&answer);
            if !held_back {
                assert_refused!(answer, forger.forgery(*nth).1);
            }
        }
    }
    assert!(world.contents().await == before, "a forged token wrote something");
    let genuine = world.engine_store.deliver(forger.current.signal("genuine")).await.unwrap();
    assert_eq!(genuine.effect, Effect::Appended);
}

/// The data of a forger: an open waitpoint, one whose token has a retired secret, and one of another execution.
struct Forger {
    current: Waitpoint,
    retired: Waitpoint,
    other: Waitpoint,
    /// The current secret, as if it had leaked.
    secret: Secret,
}

impl Forger {
    async fn new(world: &World) -> Self {
        let retired = open(world).await;
        let rotation = RotateSecretArgs::parse("k2", &"5e".repeat(16), 1_000).unwrap();
        world.backend.rotate_secret(rotation.clone()).await.unwrap();
        world.clock.advance(ms(1_000)).await;
        Self { current: open(world).await, retired, other: open(world).await, secret: rotation.secret }
    }

    /// Returns the nth forgery and the code it is refused with.
    fn forgery(&self, nth: usize) -> (DeliverArgs, &'static str) {
        let (current, retired, other) = (&self.current, &self.retired, &self.other);
        let genuine = current.granted.waitpoint_token.expose();
        let showing = |token: String| DeliverArgs { token: PresentedToken::new(token), ..current.signal("forged") };
        let nth_of = nth / KINDS;
        let args = match nth % KINDS {
            0 => showing(with_bit_flipped(&genuine, nth_of)),
            1 => showing(genuine[..1 + nth_of % (genuine.len() - 1)].into()),
            2 => showing(format!("{genuine}{nth_of:x}")),
            3 => showing(genuine.replace("k2", &format!("k{}", nth_of + 3))),
            4 => showing(genuine.replace("k2", "k1")),
            5 => showing(other.granted.waitpoint_token.expose()),
            6 => DeliverArgs { token: current.token(), ..other.signal("forged") },
            7 => {
                let nowhere = ExecutionId::new(current.execution_id.partition(), Uuid::from_u128(nth as u128));
                DeliverArgs { execution_id: nowhere, ..current.signal("forged") }
            }
            8 => {
                let nowhere = WaitpointRef::Id(WaitpointId::from_uuid(Uuid::from_u128(nth as u128)));
                DeliverArgs { waitpoint: nowhere, ..current.signal("forged") }
            }
            9 => DeliverArgs { waitpoint: WaitpointRef::Key(key(&format!("votes{nth}"))), ..current.signal("forged") },
            10 => showing(with_a_capital(&genuine, nth_of)),
            11 => DeliverArgs { token: self.signed_for_another(), ..current.signal("forged") },
            12 => showing(format!("{:064x}", nth)),
            13 => showing(format!("k2:{:064x}", nth)),
            14 => return (retired.signal("forged"), "token_expired"),
            _ => return (showing(String::new()), "missing_token"),
        };
        (args, "invalid_token")
    }

    /// Returns a token for the retired waitpoint, signed with the current secret.
    fn signed_for_another(&self) -> PresentedToken {
        let (granted, id) = (&self.retired.granted, &self.retired.execution_id);
        let mac = Mac::of(&self.secret, id, &granted.waitpoint_id, &granted.waitpoint_key);
        PresentedToken::from(&WaitpointToken { kid: Kid::parse("k2").unwrap(), mac })
    }
}

const KINDS: usize = 16;

/// Returns whether the server throttled the caller before it verified the token.
fn is_held_back(answer: &Answer<DeliveredSignal>) -> bool {
    matches!(answer, Err(error) if error.code() == Code::RateLimitExceeded)
}

/// Returns the token with one bit of its MAC flipped.
fn with_bit_flipped(genuine: &str, nth: usize) -> String {
    let (kid, digits) = genuine.split_once(':').unwrap();
    let (at, bit) = (nth / 4 % digits.len(), nth % 4);
    let flipped = u32::from_str_radix(&digits[at..=at], 16).unwrap() ^ (1 << bit);
    format!("{kid}:{}{flipped:x}{}", &digits[..at], &digits[at + 1..])
}

/// Returns the token with one of its letters in upper case. A token has only one spelling.
fn with_a_capital(genuine: &str, nth: usize) -> String {
    let letters: Vec<_> = genuine.match_indices(|c: char| c.is_ascii_lowercase()).map(|(at, _)| at).collect();
    let at = letters[nth % letters.len()];
    format!("{}{}{}", &genuine[..at], genuine[at..=at].to_uppercase(), &genuine[at + 1..])
}

/// Returns a waitpoint that takes many signals.
async fn open(world: &World) -> Waitpoint {
    let held = world.held().await;
    let [waitpoint] = held.wait_for(count(100, Distinct::Signals, &["votes"]), ["votes"]).await;
    waitpoint
}
