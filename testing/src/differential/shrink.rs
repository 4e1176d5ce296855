//! Leaving out of a script whatever it does not need to show a difference.

use super::compared::Difference;
use super::step::Step;
use super::subject::Make;
use super::walk::replay;

/// The script without every step, or run of steps, that can be left out while the sides still differ.
pub(crate) async fn shrink(
    make: Make,
    seed: u64,
    mut script: Vec<Step>,
    mut difference: Difference,
) -> (Vec<Step>, Difference) {
    let mut run = script.len().div_ceil(2);
    loop {
        let mut from = 0;
        let before = script.len();
        while from < script.len() {
            let mut shorter = script.clone();
            shorter.drain(from..(from + run).min(script.len()));
            match replay(make, seed, &shorter).await {
                Some(still) => (script, difference) = (shorter, still),
                None => from += run,
            }
        }
        if run == 1 && script.len() == before {
            return (script, difference);
        }
        run = (run / 2).max(1);
    }
}
