//! Progress on standard error, while calls are made.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

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
