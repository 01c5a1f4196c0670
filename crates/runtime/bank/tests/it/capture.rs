//! A capture of all log lines while a test runs.

use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Collects the log of this thread, at every level.
pub(crate) struct Capture {
    sink: Sink,
    /// A second subscriber: with one alone, a call site that another test's thread reaches first
    /// would stay disabled.
    _second: tracing::Dispatch,
    guard: DefaultGuard,
}

impl Capture {
    pub(crate) fn start() -> Self {
        let sink = Sink::default();
        let subscriber = || {
            tracing_subscriber::fmt()
                .with_max_level(LevelFilter::TRACE)
                .with_ansi(false)
                // Its digits may be those that are looked for.
                .without_time()
                .with_writer(sink.clone())
                .finish()
        };
        let second = tracing::Dispatch::new(subscriber());
        let guard = tracing::subscriber::set_default(subscriber());
        Self {
            sink,
            _second: second,
            guard,
        }
    }

    /// Ends the collection, and returns the text of the log.
    pub(crate) fn text(self) -> String {
        drop(self.guard);
        String::from_utf8(self.sink.0.lock().unwrap().clone()).unwrap()
    }
}
