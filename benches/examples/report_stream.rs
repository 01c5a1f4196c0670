//! Writes a report of any size, or streams one, to measure the memory of either:
//!
//! ```text
//! cargo build --release -p bankrail-benches --example report_stream
//! cd target/release/examples
//! ./report_stream generate 1400000 | /usr/bin/time -v ./report_stream read
//! ```
//!
//! Measured on 2 cores: 1,043 MB, 1,400,000 entries, 4.8 MiB resident.

// The output of a program.
#![allow(clippy::print_stdout)]

use bankrail_benches::report::write_report;
use bankrail_camt052::{EntryReader, ReadOptions, StreamItem};
use std::error::Error;
use std::io::{BufReader, BufWriter, Write, stdin, stdout};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["generate", entries] => {
            let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
            write_report(entries.parse()?, &mut out)?;
            out.flush()?;
            Ok(())
        }
        ["read"] => read(),
        _ => Err("expected `generate ENTRIES` or `read`".into()),
    }
}

fn read() -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let mut reader = EntryReader::new(
        BufReader::with_capacity(1 << 16, stdin().lock()),
        ReadOptions::default(),
    );
    let (mut entries, mut findings) = (0_u64, 0);
    while let Some(item) = reader.next_item()? {
        findings += reader.take_findings().len();
        entries += u64::from(matches!(item, StreamItem::Entry(_)));
    }
    println!(
        "{entries} entries, {findings} findings, {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}
