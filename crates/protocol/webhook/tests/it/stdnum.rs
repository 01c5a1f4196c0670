//! Checksums against python-stdnum.

use bankrail_webhook::alias::{is_abn, is_acn};
use std::io::Write;
use std::process::{Command, Stdio};

/// Valid, nearly valid and invalid numbers, from a fixed seed.
fn numbers(digits: usize, is_good: fn(&str) -> bool) -> Vec<String> {
    let mut seed = 42_u64;
    let mut next = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        seed >> 20
    };
    let bound = 10_u64.pow(digits as u32);
    let mut numbers = Vec::with_capacity(50_000);
    while numbers.len() < 50_000 {
        let start = next() % bound;
        numbers.push(format!("{start:0digits$}"));
        // The next valid number, and the same with one digit changed.
        if let Some(good) = (start..bound.min(start + 2000))
            .map(|n| format!("{n:0digits$}"))
            .find(|n| is_good(n))
        {
            let mut changed = good.clone().into_bytes();
            let at = next() as usize % digits;
            changed[at] = b'0' + ((changed[at] - b'0') + 1 + (next() % 9) as u8) % 10;
            numbers.push(good);
            numbers.push(String::from_utf8(changed).unwrap());
        }
    }
    numbers.truncate(50_000);
    numbers
}

#[test]
#[ignore = "needs python-stdnum"]
fn checksums_agree_with_python_stdnum() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stdnum_check.py");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let all: Vec<(&str, String, bool)> = numbers(11, is_abn)
        .into_iter()
        .map(|n| ("abn", is_abn(&n), n))
        .chain(
            numbers(9, is_acn)
                .into_iter()
                .map(|n| ("acn", is_acn(&n), n)),
        )
        .map(|(kind, ours, n)| (kind, n, ours))
        .collect();
    assert_eq!(all.len(), 100_000);
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String = all
        .iter()
        .map(|(kind, number, _)| format!("{kind} {number}\n"))
        .collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let answers: Vec<bool> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line == "1")
        .collect();
    assert_eq!(answers.len(), all.len());
    let mut good = 0;
    for ((kind, number, ours), theirs) in all.iter().zip(answers) {
        assert_eq!(*ours, theirs, "{kind} {number}");
        good += usize::from(theirs);
    }
    assert!(good > 20_000, "good numbers among them: {good}");
}
