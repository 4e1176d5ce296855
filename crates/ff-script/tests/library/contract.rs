//! Functions other programs call by name: what was published stays as it was.

use ff_script::signature::{SIGNATURES, Signature};

/// Published functions, with how many keys and arguments of theirs are published. Ours come after.
const PUBLISHED: &str = include_str!("../../../ff-core/tests/fixtures/functions.tsv");

/// Published names of what the library can do; their arguments are ours.
const NAMED: &[&str] = &[
    "ff_create_execution",
    "ff_claim_execution",
    "ff_complete_execution",
    "ff_fail_execution",
    "ff_cancel_execution",
    "ff_delay_execution",
    "ff_expire_execution",
    "ff_replay_execution",
    "ff_renew_lease",
    "ff_mark_lease_expired_if_due",
    "ff_revoke_lease",
    "ff_update_progress",
    "ff_promote_delayed",
    "ff_version",
];

#[test]
fn what_was_published_is_there_under_its_name() {
    for name in NAMED {
        assert!(SIGNATURES.iter().any(|signature| signature.name == *name), "{name} is missing");
    }
}

/// A published function may take more than was published, never less: the first keys and arguments are the published ones.
#[test]
fn published_functions_take_what_was_published_first() {
    let rows = published();
    assert_eq!(rows.len(), 8);
    for row in rows {
        for signature in SIGNATURES.iter().filter(|signature| signature.name == row.name) {
            assert_eq!(row.missing(signature), None);
        }
    }
}

#[test]
fn a_function_that_takes_less_than_was_published_is_found() {
    let row = Row { name: "ff_close_waitpoint", keys: 3, args: 2 };
    let taking = |keys, args| Signature {
        name: row.name,
        room: "suspension",
        keys,
        args,
        answers: &[],
        refusals: &[],
        flags: &[],
    };
    assert_eq!(row.missing(&taking(&["a", "b", "c"], &["d", "e"])), None);
    assert_eq!(row.missing(&taking(&["a", "b", "c", "ours"], &["d", "e", "ours"])), None);
    assert!(row.missing(&taking(&["a", "b"], &["d", "e"])).is_some());
    assert!(row.missing(&taking(&["a", "b", "c"], &["d"])).is_some());
}

struct Row {
    name: &'static str,
    keys: usize,
    args: usize,
}

impl Row {
    fn missing(&self, signature: &Signature) -> Option<String> {
        let (keys, args) = (signature.keys.len(), signature.args.len());
        (keys < self.keys || args < self.args)
            .then(|| format!("{} takes {keys} keys and {args} arguments, {} and {}", self.name, self.keys, self.args))
    }
}

fn published() -> Vec<Row> {
    let rows = PUBLISHED.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let [name, keys, args] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?} is not a row") };
        Row { name, keys: keys.parse().unwrap(), args: args.parse().unwrap() }
    };
    rows.map(row).collect()
}
