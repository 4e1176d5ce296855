//! The help, and the errors for invalid command lines.

use std::path::Path;

use serde_json::Value;

use crate::world::{CommandRun, command, run_in};

fn ff(args: &[&str]) -> CommandRun {
    run_in(Path::new(env!("CARGO_TARGET_TMPDIR")), args)
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
fn every_command_and_every_option_is_on_a_page() {
    let page = ["cli", "operating"]
        .map(|name| std::fs::read_to_string(format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let page = page.concat();
    let help = ff(&["--help"]).ok();
    let (_, rest) = help.split_once("Commands:").unwrap();
    let (commands, _) = rest.split_once("Options:").unwrap();
    let commands: Vec<_> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("`ff {name}")), "docs/cli.md and docs/operating.md do not mention ff {name}");
        let help = ff(&[name, "--help"]).ok();
        let options = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in options.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric())) {
            let known = option == "--help" || page.contains(option);
            assert!(known, "docs/cli.md and docs/operating.md do not mention {option} of ff {name}");
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
    ran.refused(2, "--server: path: the server has nothing there, must be left out");
}

#[test]
fn a_slip_of_the_finger_is_answered_with_what_was_meant() {
    ff(&["submitt", "a"]).refused(2, "'submit'");
    ff(&["list", "--stat", "waiting"]).refused(2, "'--state'");
    for (args, usage) in [
        (&["submit", "--wiat"][..], "Usage: ff submit --wait <KIND>"),
        (&["submit"], "Usage: ff submit <KIND>"),
        (&["submit", "--server=http://127.0.0.1:1"], "Usage: ff submit --server <URL> <KIND>"),
        (&["flow", "cancel"], "Usage: ff flow cancel <ID>"),
        (&["list", "--stat"], "Usage: ff list --state <STATE>"),
        (&["server"], "Usage: ff server --store <URL>"),
        (&["lanes"], "Usage: ff lanes [OPTIONS] <COMMAND>"),
    ] {
        let mut ff = command(Path::new(env!("CARGO_TARGET_TMPDIR")), args);
        ff.env("FF_SERVER", "http://127.0.0.1:1").env("FF_NAMESPACE", "acme");
        let ran = CommandRun::of(ff);
        assert!(ran.stderr.lines().any(|line| line == usage), "{args:?}: {}", ran.stderr);
    }
    for (args, why) in [
        (&["list", "--limit", "x"][..], "'--limit <N>': must be a whole number"),
        (&["submit", "a", "--at", "soon"], "'--at <WHEN>': must be a time as in"),
        (&["server", "--store", "memory:", "--max-waiting", "x"], "'--max-waiting <COUNT>': must be a whole number"),
        (
            &["list", "--cursor", "x"],
            "'--cursor <CURSOR>': must be a cursor that an earlier page of this listing ended with",
        ),
        (
            &["events", "--after", "x"],
            "'--after <CURSOR>': must be a cursor that an earlier page of this listing ended with",
        ),
        (&["get", "x"], "'<ID>': must begin with a partition tag, as in {fp:7}:<uuid>, or be the uuid alone"),
        (&["flow", "get", "x"], "'<ID>': must be a uuid, or at least its first 8 digits"),
    ] {
        ff(args).refused(2, why);
    }
    let json: Value = serde_json::from_str(&ff(&["get", "x", "--json"]).stderr).unwrap();
    assert!(
        json["error"].as_str().unwrap().ends_with("or be the uuid alone, or at least its first 8 digits"),
        "{json}"
    );
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

#[test]
fn a_bad_url_is_refused_by_its_part_and_never_shows_a_password() {
    let writers = "--store: writers: must be a whole number from 1 to 65535";
    let scheme = "'--store <URL>': scheme: must be that of sqlite:PATH, memory:";
    let server = "'--server <URL>': must be the address of a server, as in http://127.0.0.1:7070";
    let parameters = "--store: parameters: must be durability=server or fsync, partitions=NUMBER or ca=FILE";
    for (args, why) in [
        (&["server", "--store", "mysql://u:hunter2@x"][..], scheme),
        (&["server", "--store", "mysql:u:hunter2@x"], scheme),
        (
            &["server", "--store", "https://u:hunter2@x"],
            "scheme: is that of a server, not a store; must be that of a store",
        ),
        (&["server", "--store", "sqlite:"], "path: is missing, must name a file as in sqlite:jobs.db"),
        (
            &["server", "--store", "sqlite:/nowhere/a.db"],
            "--store: path: the directory /nowhere does not exist, must be one",
        ),
        (&["server", "--store", "sqlite:a.db?synchronous=off"], "synchronous: must be full or normal"),
        (&["server", "--store", "postgres://u:hunter2@x/db?writers=none"], writers),
        (&["migrate", "--store", "postgres://u:hunter2@x/db?writers=none"], writers),
        (&["doctor", "--store", "postgres://u:hunter2@x/db?writers=none"], writers),
        (&["bench", "idle", "--store", "postgres://u:hunter2@x/db?writers=none"], writers),
        (&["bench", "idle", "--store", "valkey://x:1?password=hunter2"], parameters),
        (&["server", "--store", "valkey://u:a?hunter2@x:1"], parameters),
        (&["server", "--json", "--store", "mysql://u:hunter2@x"], "scheme: must be"),
        (&["server", "postgres://u:hunter2@x/db"], "unexpected argument '***@x/db' found"),
        (&["postgres://u:hunter2@x/db"], "unrecognized subcommand '***@x/db'"),
        (&["list", "--server", "ftp://u:hunter2@x"], server),
        (&["list", "--server", "http://u:hunter2@x"], "--server: user: name and password must be left out"),
        (&["list", "--server", "http://x:99999"], "--server: address: invalid port number, must be http://HOST:PORT"),
        (&["list", "--server", "http://x?ca=a.pem"], "--server: ca: needs TLS, as in https://HOST:PORT?ca=FILE"),
        (&["list", "--server", "https://x?ca=/nowhere"], "--server: ca: /nowhere cannot be read"),
        (
            &["server", "--store", "memory:", "--public-url", "https://u:hunter2@x"],
            "must be an address such as https://",
        ),
    ] {
        let ran = ff(args);
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why) && !ran.stderr.contains("hunter2"), "{args:?}: {}", ran.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut config = command(folder.path(), &["config"]);
    config.env("FF_STORE", "http://u:hunter2@x");
    let ran = CommandRun::of(config);
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    ran.refused(2, "scheme: is that of a server");
}
