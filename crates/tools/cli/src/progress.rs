//! Progress on standard error, while a large file is read or calls are made.

use std::io::{self, IsTerminal as _, Read, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The size in bytes from which progress is shown. Smaller files are read at once.
const FROM_BYTES: u64 = 50_000_000;
/// The interval between two updates of the line.
const EVERY: Duration = Duration::from_millis(200);

/// True while the last line of the terminal is one of progress.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line of progress away, so that something else can be printed.
pub(crate) fn clear() {
    // Relaxed: the mark decides only if a line is cleared.
    if SHOWN.swap(false, Ordering::Relaxed) {
        // Without a standard error there is no line.
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

/// Shows a line of progress on a terminal, in place of the one before.
pub(crate) fn show(line: &str) {
    if io::stderr().is_terminal() {
        SHOWN.store(true, Ordering::Relaxed);
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}

/// A source that prints how much of it has been read: rate and, where the length is known, the time
/// left. Only on a terminal, and from 50 MB on.
pub(crate) struct Progress<R> {
    source: R,
    total: Option<u64>,
    done: u64,
    begin: Instant,
    last: Instant,
    terminal: bool,
}

impl<R> Progress<R> {
    /// Watches a source of this many bytes, if that is known.
    pub(crate) fn new(source: R, total: Option<u64>) -> Self {
        let now = Instant::now();
        Self {
            source,
            total,
            done: 0,
            begin: now,
            last: now,
            terminal: io::stderr().is_terminal(),
        }
    }

    /// True for a regular file, which can be opened once more.
    pub(crate) fn is_file(&self) -> bool {
        self.total.is_some()
    }
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        // Lossless: a number of bytes in memory has at most 64 bits.
        self.done = self.done.saturating_add(u64::try_from(read).unwrap_or(0));
        if self.terminal
            && self.total.unwrap_or(self.done) >= FROM_BYTES
            && self.last.elapsed() >= EVERY
        {
            self.last = Instant::now();
            show(&line(self.done, self.total, self.begin.elapsed()));
        }
        Ok(read)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        clear();
    }
}

/// The line after this many bytes and this time.
fn line(done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let mega = |bytes: u64| bytes / 1_000_000;
    let millis = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        // The rate is divided by this.
        .max(1);
    let rate = done.saturating_mul(1000) / millis;
    let speed = format!("{} MB/s", mega(rate));
    match total {
        None => format!("{} MB, {speed}", mega(done)),
        Some(total) => {
            let left = total.saturating_sub(done) / rate.max(1);
            format!(
                "{} of {} MB, {speed}, {left} s left",
                mega(done),
                mega(total)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_rate_and_time_left() {
        let second = Duration::from_secs(1);
        assert_eq!(
            line(50_000_000, Some(150_000_000), second),
            "50 of 150 MB, 50 MB/s, 2 s left"
        );
        assert_eq!(line(60_000_000, None, second), "60 MB, 60 MB/s");
        assert_eq!(
            line(0, Some(50_000_000), Duration::ZERO),
            "0 of 50 MB, 0 MB/s, 50000000 s left"
        );
    }
}
