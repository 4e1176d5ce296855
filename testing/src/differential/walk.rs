//! A walk from beginning to end.

use super::chooser::Chooser;
use super::compared::{Compared, Difference};
use super::coverage::Coverage;
use super::shrink::shrink;
use super::step::Step;
use super::subject::Make;

/// Steps between two looks at everything. Replies are compared at every step, and a script that is shortened is looked at
/// after each, so a difference is found late here and shown early.
const LOOK_EVERY: usize = 20;

/// Takes so many random steps. When the sides differ, panics with the seed and the shortest script that shows it.
pub async fn walk(make: Make, seed: u64, steps: usize) -> Coverage {
    let mut compared = Compared::new(make, seed).await;
    let mut chooser = Chooser::new(seed);
    let mut script = Vec::new();
    let mut found = Ok(());
    while found.is_ok() && script.len() < steps {
        let step = chooser.choose(&compared.reference);
        found = compared.take(&step).await;
        script.push(step);
        if found.is_ok() && script.len().is_multiple_of(LOOK_EVERY) {
            found = compared.look(false).await;
        }
    }
    if found.is_ok() {
        found = compared.look(true).await;
    }
    let coverage = compared.end().await;
    if let Err(difference) = found {
        report(make, seed, script, difference).await;
    }
    coverage
}

/// Takes the steps of a script, looking at everything after each. Gives the first difference.
pub async fn replay(make: Make, seed: u64, script: &[Step]) -> Option<Difference> {
    let mut compared = Compared::new(make, seed).await;
    let mut found = Ok(());
    for step in script {
        found = compared.take(step).await;
        if found.is_ok() {
            found = compared.look(false).await;
        }
        if found.is_err() {
            break;
        }
    }
    if found.is_ok() {
        found = compared.look(true).await;
    }
    compared.end().await;
    found.err()
}

async fn report(make: Make, seed: u64, script: Vec<Step>, difference: Difference) -> ! {
    let steps = script.len();
    let (script, difference) = shrink(make, seed, script, difference).await;
    let lines: Vec<_> = script.iter().map(|step| format!("    {step:?},")).collect();
    panic!(
        "seed {seed}: the store differs from the model after {steps} steps. The shortest script that shows it:\n\
         [\n{}\n]\n{difference}",
        lines.join("\n")
    );
}
