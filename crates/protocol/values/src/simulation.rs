//! Random bytes from a seed, so that a simulation can be repeated (feature `simulation`). **Never
//! for production**: keys and tokens that are made from a seed can be guessed.

use std::cell::RefCell;
use std::fmt;

/// A source of bytes that fills the buffer.
type Source = Box<dyn FnMut(&mut [u8])>;

thread_local! {
    static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
}

/// A thread whose random bytes come from a source, until this value is dropped.
#[must_use]
pub struct Simulated(());

/// Makes this thread take its random bytes from a source, and perform computations itself that
/// would otherwise run on other threads.
pub fn begin(source: impl FnMut(&mut [u8]) + 'static) -> Simulated {
    SOURCE.set(Some(Box::new(source)));
    Simulated(())
}

/// Returns true if this thread is simulated.
#[must_use]
pub fn is_on() -> bool {
    SOURCE.with_borrow(Option::is_some)
}

/// Fills the buffer if this thread is simulated, and returns true if it is.
pub(crate) fn fill(buffer: &mut [u8]) -> bool {
    SOURCE.with_borrow_mut(|source| source.as_mut().map(|source| source(buffer)).is_some())
}

impl Drop for Simulated {
    fn drop(&mut self) {
        SOURCE.set(None);
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Simulated")
    }
}
