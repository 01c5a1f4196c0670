//! The events that are logged.

use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The log of this thread while this value exists.
pub(crate) struct Log {
    sink: Sink,
    _default: DefaultGuard,
    _second: tracing::Dispatch,
}

impl Log {
    pub(crate) fn start() -> Self {
        let sink = Sink::default();
        let subscriber = || {
            let all = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE);
            // Without the time, whose digits may be those that a test looks for.
            all.without_time()
                .with_ansi(false)
                .with_writer(sink.clone())
                .finish()
        };
        // While there is one subscriber only, a call site that another test's thread meets first
        // stays disabled for ever.
        let second = tracing::Dispatch::new(subscriber());
        let default = tracing::subscriber::set_default(subscriber());
        Self {
            sink,
            _default: default,
            _second: second,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.sink.0.lock().unwrap().clone()).unwrap()
    }
}

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
