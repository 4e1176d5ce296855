//! Conformance tests for recorded steps.

pub(crate) mod claiming;
pub(crate) mod forking;
pub(crate) mod keeping;
pub(crate) mod listing;
pub(crate) mod recording;
pub(crate) mod replaying;

use crate::prelude::*;

/// Returns a reference to a step by its kind, name and key.
fn named(kind: StepKind, name: &str, key: &str) -> StepRef {
    StepRef { kind, name: StepName::parse(name).unwrap(), key: StepKey::parse(key).unwrap() }
}

fn point(name: &str, key: &str) -> StepPoint {
    StepPoint { name: StepName::parse(name).unwrap(), key: StepKey::parse(key).unwrap() }
}

fn failed(message: &str) -> StepOutcome {
    let failure = Failure { category: Kind::parse("io").unwrap(), message: message.to_owned(), permanent: true };
    StepOutcome::Failed { failure }
}

/// Records a step for each word: `a` succeeds, `a#k` has a key, `b!` fails, `(w)` is a wait, `~a` undoes a.
async fn record(held: &LeasedExecution, world: &World, words: &str) {
    for word in words.split_whitespace() {
        let (kind, name) = match (word.strip_prefix('~'), word.strip_prefix('(')) {
            (Some(undone), _) => (StepKind::Undo, undone),
            (_, Some(wait)) => (StepKind::Wait, wait.trim_end_matches(')')),
            _ => (StepKind::Step, word.trim_end_matches('!')),
        };
        let (name, key) = name.split_once('#').unwrap_or((name, ""));
        let mut args = held.record(named(kind, name, key), word.as_bytes());
        if word.ends_with('!') {
            args = RecordStepArgs { outcome: failed("no"), ..args };
        }
        let recorded = world.backend.record_step(args).await.unwrap();
        assert!(!recorded.duplicate, "{word} is new");
    }
}

/// Renders steps in the words of [`record`].
fn words(steps: &[Step]) -> Vec<String> {
    let word = |step: &Step| {
        let key = if step.step.key.is_empty() { String::new() } else { format!("#{}", step.step.key) };
        let end = if matches!(step.outcome, StepOutcome::Failed { .. }) { "!" } else { "" };
        match step.step.kind {
            StepKind::Step => format!("{}{key}{end}", step.step.name),
            StepKind::Wait => format!("({}{key}){end}", step.step.name),
            StepKind::Undo => format!("~{}{key}{end}", step.step.name),
        }
    };
    steps.iter().map(word).collect()
}

/// Returns every recorded step of an execution, read page by page.
async fn all(world: &World, id: &ExecutionId, limit: usize) -> Vec<Step> {
    let mut args = ListStepsArgs { limit, ..ListStepsArgs::new(*id) };
    let mut steps = Vec::new();
    loop {
        let page = world.backend.list_steps(args).await.unwrap();
        assert!(page.steps.len() <= limit);
        assert_eq!(
            page.next.is_some_and(|next| page.steps.last().is_some_and(|last| last.seq == next)),
            page.next.is_some()
        );
        steps.extend(page.steps);
        match page.next {
            Some(next) => args.after = Some(next),
            None => return steps,
        }
    }
}

async fn recorded(world: &World, id: &ExecutionId) -> Vec<String> {
    words(&all(world, id, limits::PAGE).await)
}

/// Returns a policy that allows `max_steps` steps.
fn room_for(max_steps: u32) -> Policy {
    Policy { max_steps: Some(max_steps), ..Policy::default() }
}
