//! Reads a camt.052.001.06 document and prints its balances, summary, entries and findings, or the
//! error with its position.
//!
//! `cargo run --example statement -- FILE`, with `-` for standard input. The exit status is 1 if
//! the document cannot be read.

mod report;

use crate::report::print_document;
use bankrail::camt052::{Document, ReadOptions};
use std::error::Error;
use std::io::{self, BufReader, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        eprintln!("usage: statement FILE (or - for standard input)");
        return ExitCode::from(2);
    };
    match show(&name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            let mut cause = error.source();
            while let Some(next) = cause {
                eprintln!("  because: {next}");
                cause = next.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn show(name: &str) -> Result<(), Box<dyn Error>> {
    let options = ReadOptions::default();
    let parsed = match name {
        "-" => Document::read_with(BufReader::new(io::stdin().lock()), &options)?,
        file => {
            let opened = std::fs::File::open(file).map_err(|error| format!("{file}: {error}"))?;
            Document::read_with(BufReader::new(opened), &options)?
        }
    };
    let mut out = io::stdout().lock();
    print_document(&parsed.document, &mut out)?;
    for finding in &parsed.findings {
        match finding.position {
            Some(at) => writeln!(
                out,
                "  finding: {}:{}: {}: {}",
                at.line, at.column, finding.path, finding.kind
            )?,
            None => writeln!(out, "  finding: {}: {}", finding.path, finding.kind)?,
        }
    }
    Ok(())
}
