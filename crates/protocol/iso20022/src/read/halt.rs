//! Where reading stopped.

use super::error::ReadErrorKind;
use crate::finding::Position;

/// Reading stopped: why, and where. The element is the one that the cursor is at; together they
/// become a `ReadError`.
#[derive(Debug)]
// Boxed, because every reading function returns it, and a `Result` is as large as its error.
pub struct Halt(Box<Halted>);

#[derive(Debug)]
pub(crate) struct Halted {
    pub(crate) kind: ReadErrorKind,
    pub(crate) position: Position,
    /// The element, where it is not the one that the cursor is at.
    pub(crate) path: Option<String>,
}

impl Halt {
    pub(crate) fn new(kind: ReadErrorKind, position: Position) -> Self {
        Self(Box::new(Halted {
            kind,
            position,
            path: None,
        }))
    }

    /// True when something in the content of an element is wrong, and not the markup or a limit.
    pub(crate) fn is_of_content(&self) -> bool {
        matches!(
            self.0.kind,
            ReadErrorKind::Missing { .. } | ReadErrorKind::Unreadable { .. }
        )
    }

    pub(crate) fn at(mut self, path: String) -> Self {
        self.0.path = Some(path);
        self
    }

    pub(crate) fn into_parts(self) -> Halted {
        *self.0
    }
}
