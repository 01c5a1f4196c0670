//! The choice of the mutant that runs, among those compiled into a program.

#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns true if the mutant with this number runs: the one that `BANKRAIL_MUTANT` names, or none.
///
/// With `BANKRAIL_MUTANTS_REACHED`, the numbers of all that were asked about are written to that
/// file.
pub fn is(number: usize) -> bool {
    let run = &*RUN;
    if let Some(reached) = &run.reached
        && !SEEN
            .get(number)
            .is_none_or(|seen| seen.swap(true, Ordering::Relaxed))
    {
        // One write of a few bytes at the end of the file, so that threads and processes may share
        // it.
        let _ = (&*reached).write_all(format!("{number}\n").as_bytes());
    }
    number == run.number
}

struct Run {
    number: usize,
    reached: Option<File>,
}

static SEEN: [AtomicBool; 65_536] = [const { AtomicBool::new(false) }; 65_536];
static RUN: LazyLock<Run> = LazyLock::new(|| Run {
    number: std::env::var("BANKRAIL_MUTANT")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0),
    reached: std::env::var_os("BANKRAIL_MUTANTS_REACHED").map(|path| {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .expect("the file can be written")
    }),
});
