//! Rows of a table that are wrong, collected so that one run shows all of them.

use std::fmt::{Debug, Display};

/// The rows that are wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Wrong(Vec<String>);

impl Wrong {
    pub(crate) fn unless_equal<T: Debug + PartialEq>(
        &mut self,
        row: impl Display,
        found: T,
        expected: T,
    ) {
        if found != expected {
            self.0
                .push(format!("{row}: expected {expected:?}, found {found:?}"));
        }
    }

    /// Ends the table.
    pub(crate) fn none(self) {
        assert!(self.0.is_empty(), "{:#?}", self.0);
    }
}
