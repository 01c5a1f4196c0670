use crate::documents::{entry, three, xml};
use crate::{Folder, command, run, run_with};
use std::io::Read as _;
use std::process::Stdio;

/// All commands, each by its words.
const COMMANDS: &[&[&str]] = &[
    &["statement", "fetch"],
    &["statement", "show"],
    &["statement", "check"],
    &["statement", "html"],
    &["statement", "csv"],
    &["statement", "merge"],
    &["assertion", "make"],
    &["assertion", "explain"],
    &["token"],
    &["biller"],
    &["archive", "list"],
    &["archive", "show"],
    &["archive", "import"],
    &["payload", "seal"],
    &["payload", "open"],
    &["payload", "explain"],
    &["message", "check"],
    &["message", "sample"],
    &["keys", "generate"],
    &["keys", "show"],
    &["keys", "convert"],
    &["keys", "thumbprint"],
    &["keys", "jwks"],
    &["provider"],
    &["provider", "control", "set-clock"],
    &["provider", "control", "step-clock"],
    &["provider", "control", "book"],
    &["provider", "control", "customers"],
    &["provider", "control", "add-customer"],
    &["provider", "control", "rotate-api-key"],
    &["provider", "control", "keys"],
    &["provider", "control", "rotate-key"],
    &["provider", "control", "messages"],
    &["provider", "control", "message"],
    &["provider", "control", "resend"],
    &["provider", "control", "drop"],
    &["provider", "control", "pause"],
    &["provider", "control", "resume"],
    &["provider", "control", "send"],
    &["conformance", "receiver"],
    &["conformance", "provider"],
    &["completions"],
];

#[test]
fn every_command_has_help_with_an_example_and_a_manual_page() {
    for words in COMMANDS.iter().copied() {
        let help = run(words.iter().chain(&["--help"])).fine();
        let example = format!("bankrail {}", words.join(" "));
        assert!(
            help.contains("Example") && help.contains(&example),
            "{help}"
        );
        if ["statement", "conformance", "token", "biller"].contains(&words[0]) {
            assert!(help.contains("Exit status: 0"), "{help}");
        }
        let page = run(["man"].iter().chain(words)).fine();
        assert!(
            page.contains(".TH") && page.contains(".SH SYNOPSIS") && page.contains(".SH EXAMPLE"),
            "{page}"
        );
        assert!(!page.contains(".SH EXTRA"), "{page}");
    }
    assert!(run(["man"]).fine().contains("statement"));
    let line = run(["man", "nothing"]).failed(2);
    assert!(line.contains("expected a command"), "{line}");
}

#[test]
fn version_and_completions_are_printed() {
    // A release names its commit.
    let printed = run(["--version"]).fine();
    let begin = format!("bankrail {}", env!("CARGO_PKG_VERSION"));
    let commit = printed.trim_end().strip_prefix(&begin).unwrap();
    let is_commit = |text: &str| {
        (7..=9).contains(&text.len()) && !text.contains(|c: char| !c.is_ascii_hexdigit())
    };
    assert!(
        commit.is_empty()
            || commit
                .strip_prefix(" (")
                .and_then(|text| text.strip_suffix(')'))
                .is_some_and(is_commit),
        "{printed}"
    );
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            run(["completions", shell]).fine().contains("bankrail"),
            "{shell}"
        );
    }
    let bash = run(["completions", "bash"]).fine();
    for name in ["mandate-expired", "statement-half-body", "dead_letter"] {
        assert!(bash.contains(name), "{name}");
    }
}

#[test]
fn wrong_arguments_end_with_2_and_nothing_on_standard_output() {
    for arguments in [
        &["nothing"][..],
        &["statement"],
        &["statement", "show"],
        &["keys", "convert", "x"],
    ] {
        let run = run(arguments);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(!run.err.is_empty());
    }
    for (arguments, expected) in [
        (
            &["nothing"][..],
            "bankrail: unrecognized subcommand 'nothing'; see --help\n",
        ),
        (
            &["statement", "show"],
            "bankrail: the following required arguments were not provided: <FILE>...; see --help\n",
        ),
        (
            &["statement", "csv", "--nope", "x"],
            "bankrail: unexpected argument '--nope' found; to pass '--nope' as a value, use \
             '-- --nope'; see --help\n",
        ),
        (
            &["--color", "red", "man"],
            "bankrail: invalid value 'red' for '--color <WHEN>' [possible values: auto, always, \
             never]; see --help\n",
        ),
    ] {
        assert_eq!(run(arguments).failed(2), expected);
    }
    // A folder is no file.
    let folder = Folder::new();
    let line = run(["statement", "show", folder.path("").to_str().unwrap()]).failed(2);
    assert!(line.contains("expected a file, found a folder"), "{line}");
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly() {
    // The output is larger than any pipe's buffer.
    let entries = (0..5000)
        .map(|number| entry("1.00").narrative(&format!("number {number} {}", "x".repeat(100))));
    let folder = Folder::new();
    let file = folder.file("r.xml", xml(entries));
    for command_name in ["show", "csv", "html", "merge"] {
        let mut child = command()
            .args(["statement", command_name, &file])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        // The pipe is closed here.
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command_name}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "",
            "{command_name}"
        );
    }
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let plain = run_with(["statement", "check", "-"], three().as_bytes()).fine();
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let painted = run_with(
        ["--color", "always", "statement", "check", "-"],
        three().as_bytes(),
    )
    .fine();
    assert!(painted.contains("\u{1b}[32m"), "{painted:?}");
    let never = run_with(
        ["--color", "never", "statement", "check", "-"],
        three().as_bytes(),
    )
    .fine();
    assert_eq!(never, plain);
}

#[test]
fn times_are_in_utc_and_the_zone_of_the_machine() {
    let folder = Folder::new();
    let file = folder.file("r.xml", three());
    let output = command()
        .args(["statement", "show", &file])
        .env("TZ", "<+05>-5:30")
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.contains("(2021-07-29 07:10:05 UTC, 2021-07-29 12:40:05 +05:30 here)"),
        "{out}"
    );
}

#[test]
fn errors_of_a_document_cannot_move_the_cursor_either() {
    let line = run_with(["statement", "show", "-"], "<\u{9b}31m>".as_bytes()).failed(1);
    assert!(!line.trim_end().chars().any(char::is_control), "{line:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_links_and_permissions_and_nothing_else_is_replaced() {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    let folder = Folder::new();
    let file = folder.file("r.xml", three());
    let csv = folder.file("r.csv", "before");
    fs::set_permissions(&csv, fs::Permissions::from_mode(0o600)).unwrap();
    let link = folder.path("link");
    symlink(&csv, &link).unwrap();
    let to = |path: &std::path::Path| run(["statement", "csv", &file, "-o", &crate::text(path)]);
    to(&link).fine();
    assert!(fs::read_to_string(&csv).unwrap().starts_with("file,"));
    assert_eq!(
        fs::metadata(&csv).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    fs::set_permissions(&csv, fs::Permissions::from_mode(0o400)).unwrap();
    assert!(to(&link).failed(2).contains("cannot be written"));
    let socket = folder.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    to(&socket).failed(2);
    run([
        "keys",
        "generate",
        "--only",
        "signing",
        &crate::text(&folder.path("keys")),
    ])
    .fine();
    let key = crate::text(&folder.path("keys").join("signing.pem"));
    let line = run([
        "keys",
        "convert",
        &key,
        "--to",
        "pem",
        "--force",
        "-o",
        &crate::text(&socket),
    ])
    .failed(2);
    assert!(line.contains("is no file"), "{line}");
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
}
