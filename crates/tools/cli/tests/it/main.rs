//! The program, run in the way in which its users run it.

// Helpers of tests panic on unexpected results like the tests themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod archive;
mod assertion;
#[cfg(unix)]
mod biller;
mod check;
mod conformance;
mod csv;
mod documents;
mod family;
mod fetch;
mod html;
mod keys;
mod large;
mod manners;
mod merge;
mod message;
mod payload;
#[cfg(unix)]
mod provider;
mod receiver;
mod show;
mod token;
mod world;

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The end of a run.
struct Run {
    status: i32,
    out: String,
    err: String,
}

impl Run {
    /// Returns the output, after checking that nothing was wrong.
    fn fine(self) -> String {
        assert_eq!(self.status, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Returns the only line of standard error, after checking the exit status.
    fn failed(self, status: i32) -> String {
        assert_eq!(self.status, status, "{}{}", self.out, self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        self.err
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bankrail"));
    command
        .env("TZ", "UTC")
        .env_remove("NO_COLOR")
        .env_remove("RUST_LOG");
    command
}

/// Returns the program under a umask that removes no permissions.
#[cfg(unix)]
fn command_without_umask() -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 000; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_bankrail"))
        .env("TZ", "UTC")
        .env_remove("NO_COLOR")
        .env_remove("RUST_LOG");
    command
}

/// Sets the permissions of a file.
#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(path, permissions).unwrap();
}

fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    run_with(arguments, b"")
}

/// Runs the program with this standard input.
fn run_with<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Run {
    let mut command = command();
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that does not read its input to the end closes it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run {
        status: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A folder that is removed at the end.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file that only its owner can read, and returns its name.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        #[cfg(unix)]
        set_mode(&self.path(name), 0o600);
        text(&self.path(name))
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Returns the samples of the specification's neighbours, if they are available.
fn shared() -> Option<PathBuf> {
    let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
        eprintln!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    Some(Path::new(&shared).join("samples"))
}
