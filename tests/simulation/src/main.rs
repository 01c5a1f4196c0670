#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    clippy::indexing_slicing,
    reason = "what is out of bounds here is a mistake of this program"
)]

mod biller;
mod marks;
mod messages;
mod model;
mod network;
mod node;
mod provider;
mod random;
mod run;
mod stores;
mod world;

use clap::Parser;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Runs a provider and a biller, each of two nodes, with faults from a seed.
#[derive(Debug, Parser)]
struct Arguments {
    /// The seeds to run, from the first up to and without the second.
    #[arg(long, value_parser = range, default_value = "0..500")]
    seeds: (u64, u64),
    /// One seed instead.
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Prints each step of the run.
    #[arg(long)]
    trace: bool,
    /// Runs every seed of this many twice, and compares the traces.
    #[arg(long, default_value_t = 50)]
    twice_each: u64,
    /// Goes on after a violation, and counts them.
    #[arg(long)]
    go_on: bool,
    /// Fails if a mark of this program's list was never hit.
    #[arg(long)]
    need_marks: bool,
    /// Prints how often each mark was hit.
    #[arg(long)]
    marks: bool,
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once("..");
    let parse = |part: &str| {
        part.parse()
            .map_err(|_| format!("expected a number, found {part:?}"))
    };
    let (from, to) =
        parts.ok_or_else(|| format!("expected two numbers such as 0..500, found {text:?}"))?;
    Ok((parse(from)?, parse(to)?))
}

/// The panics of product code, which its tasks hide.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    std::panic::set_hook(Box::new(|panic| {
        world::lock(&PANICS).push(panic.to_string())
    }));
    if arguments.trace {
        // The product's own log, between the lines of the trace.
        tracing_subscriber::fmt()
            .without_time()
            .with_ansi(false)
            .with_max_level(tracing::Level::DEBUG)
            .init();
    }
    // Before the first run, which would otherwise take longer than another one with its seed.
    std::sync::LazyLock::force(&messages::KEYS);
    let (from, to) = match arguments.seed {
        Some(seed) => (seed, seed + 1),
        None => arguments.seeds,
    };
    let (begun, mut marks, mut longest, mut violations) = (
        Instant::now(),
        BTreeMap::<String, u64>::new(),
        Duration::ZERO,
        0_u64,
    );
    for seed in from..to {
        let compared = seed % arguments.twice_each.max(1) == 0 && !arguments.trace;
        let outcome = run::run(seed, compared || arguments.trace, arguments.trace);
        let mut fault = outcome.violation;
        let panics = std::mem::take(&mut *world::lock(&PANICS));
        if !panics.is_empty() {
            fault = Some(format!("the product panicked: {}", panics.join("; ")));
        }
        if fault.is_none() && compared {
            let again = run::run(seed, true, false);
            fault = first_difference(&outcome.trace, &again.trace);
        }
        if let Some(fault) = fault {
            println!("seed {seed}: {fault}");
            println!("replay: cargo run -p bankrail-simulation -- --seed {seed} --trace");
            if !arguments.go_on {
                return ExitCode::FAILURE;
            }
            violations += 1;
        }
        for (mark, hits) in outcome.marks {
            *marks.entry(mark).or_default() += hits;
        }
        longest = longest.max(outcome.settled);
    }
    if arguments.marks {
        marks
            .iter()
            .for_each(|(mark, hits)| println!("{hits:>8} {mark}"));
    }
    if arguments.need_marks {
        let missing: Vec<String> = marks::expected()
            .filter(|mark| !marks.contains_key(mark))
            .collect();
        if !missing.is_empty() {
            println!("never hit: {}", missing.join(", "));
            return ExitCode::FAILURE;
        }
    }
    if violations > 0 {
        println!("{violations} of {} seeds end with a violation", to - from);
        return ExitCode::FAILURE;
    }
    println!(
        "{} seeds in {:.1} s, no violation; settled within {longest:?}",
        to - from,
        begun.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// The first lines in which two traces of one seed differ.
fn first_difference(one: &str, other: &str) -> Option<String> {
    if one == other {
        return None;
    }
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        let (first, second) = (one.next(), other.next());
        if first != second || first.is_none() {
            return Some(format!("two runs differ: {first:?} and {second:?}"));
        }
    }
}
