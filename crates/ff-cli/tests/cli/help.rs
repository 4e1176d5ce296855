//! What the tool says of itself, and of a command line it does not understand.

use std::path::Path;

use crate::world::{Ran, command};

fn ff(args: &[&str]) -> Ran {
    Ran::of(command(Path::new(env!("CARGO_TARGET_TMPDIR")), args))
}

#[test]
fn every_exit_code_is_in_the_help_and_on_the_page() {
    let help = ff(&["--help"]).ok();
    let (_, codes) = help.split_once("Exit codes:").unwrap();
    let codes: Vec<_> = codes.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "6", "124", "130"]);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")).unwrap();
    for code in codes {
        assert!(page.contains(&format!("\n| {code} |")), "docs/cli.md does not explain exit code {code}");
    }
}

#[test]
fn every_command_and_every_option_is_on_the_page() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")).unwrap();
    let help = ff(&["--help"]).ok();
    let (_, rest) = help.split_once("Commands:").unwrap();
    let (commands, _) = rest.split_once("Options:").unwrap();
    let commands: Vec<_> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("`ff {name}")), "docs/cli.md does not mention ff {name}");
        let help = ff(&[name, "--help"]).ok();
        let options = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in options.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric())) {
            let known = option == "--help" || page.contains(option);
            assert!(known, "docs/cli.md does not mention {option} of ff {name}");
        }
    }
}

#[test]
fn help_says_what_an_id_is_and_keeps_global_options_apart() {
    for command in [&["get"][..], &["cancel"], &["watch"], &["flow", "get"]] {
        let help = ff(&[command, &["--help"]].concat()).ok();
        assert!(help.contains("uuid"), "{help}");
        let (own, global) = help.split_once("Global options:").unwrap();
        assert!(global.contains("--server") && !own.contains("--server"), "{help}");
    }
    assert!(ff(&["cancel", "--help"]).ok().contains("ff cancel [OPTIONS] --filter"));
}

#[test]
fn a_path_that_is_not_there_is_not_a_missing_key() {
    let world = crate::world::World::start();
    let ran = world.run(&["list", "--server", &format!("{}/nothing", world.server)]);
    assert!(!ran.stderr.contains("FF_API_KEY"), "{}", ran.stderr);
    ran.refused(2, "nothing at this path");
}

#[test]
fn a_slip_of_the_finger_is_answered_with_what_was_meant() {
    ff(&["submitt", "a"]).refused(2, "'submit'");
    ff(&["list", "--stat", "waiting"]).refused(2, "'--state'");
    ff(&["--version", "--json"]).ok();
    assert!(ff(&["--version"]).ok().starts_with("ff "));
}

#[test]
fn a_server_that_is_not_there_is_named_with_what_to_do() {
    let ran = ff(&["list", "--server", "http://127.0.0.1:1"]);
    assert!(ran.stderr.contains("http://127.0.0.1:1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("ff dev") && ran.stderr.contains("--server"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    ran.refused(1, "no server answers at");
    ff(&["list", "--server", "sqlite:a.db"]).refused(2, "--server");
    ff(&["list", "--server", "https://127.0.0.1:1"]).refused(1, "no server answers at https");
}
