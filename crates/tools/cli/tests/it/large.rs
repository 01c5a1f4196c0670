//! The cost of a large file. Linux reports the peak of a process's memory.

use crate::documents::{entry, xml};
use crate::{Folder, command};
use std::io::Read as _;
use std::process::{Child, Stdio};

/// Waits for a program, and returns its peak of memory in KiB and the number of bytes that it
/// printed.
fn peak(mut child: Child) -> (u64, usize) {
    let (mut most, mut rows) = (0, 0);
    let mut stdout = child.stdout.take().unwrap();
    let mut buffer = vec![0; 1 << 16];
    loop {
        // The status can be read until the program has ended.
        if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let found = line.map(|line| line.trim().trim_end_matches(" kB").parse().unwrap());
            most = most.max(found.unwrap_or(0));
        }
        match stdout.read(&mut buffer).unwrap() {
            0 => break,
            read => rows += buffer[..read].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
    assert!(child.wait().unwrap().code().is_some());
    (most, rows)
}

#[test]
#[ignore = "needs half a minute, and /proc"]
fn a_hundred_thousand_entries_take_the_memory_of_a_few() {
    let folder = Folder::new();
    let of = |count: u32| {
        let entries = (0..count).map(|number| {
            entry("1.00")
                .debtor("JANE CITIZEN")
                .narrative(&format!("number {number} {}", "x".repeat(100)))
                .servicer_reference(&format!("R{number}"))
        });
        // Each entry has a finding, so that there is output while it is read.
        folder.file(
            &format!("{count}.xml"),
            xml(entries).replace("<Sts>BOOK", "<Sts>DONE"),
        )
    };
    let (few, many) = (of(1_000), of(100_000));
    assert!(std::fs::metadata(&many).unwrap().len() > 50_000_000);
    let held = |arguments: &[&str]| {
        let mut program = command();
        program
            .arg("statement")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        peak(program.spawn().unwrap())
    };
    for name in ["check", "csv"] {
        let ((small, _), (large, rows)) = (held(&[name, &few]), held(&[name, &many]));
        eprintln!("{name}: {small} KiB for 1,000 entries, {large} KiB for 100,000");
        assert!(rows >= 100_000, "{rows}");
        assert!(
            large < small + 8 * 1024,
            "{name}: {small} KiB, then {large} KiB"
        );
    }
}
