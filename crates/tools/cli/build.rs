//! Finds the commit that `bankrail --version` names.
//!
//! The commit is that of `BANKRAIL_COMMIT`, of the package, or of the checkout that a release is
//! built in. A debug build has no commit, so that a new commit does not rebuild the program during
//! development.

use std::env::var;
use std::fs;
use std::process::Command;

/// The number of characters of a commit that are shown.
const SHOWN: usize = 9;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BANKRAIL_COMMIT");
    let commit = var("BANKRAIL_COMMIT")
        .ok()
        .or_else(of_package)
        .or_else(of_checkout);
    if let Some(commit) = commit {
        let commit = commit.get(..SHOWN).unwrap_or(&commit);
        println!("cargo:rustc-env=BANKRAIL_COMMIT={commit}");
    }
}

/// Reads the file that `cargo package` adds.
fn of_package() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    Some(rest.split('"').next()?.to_owned())
}

/// Returns the commit of the checkout, if git exists and tracks this file.
fn of_checkout() -> Option<String> {
    if var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // This log changes with each commit and each checkout of another one.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
