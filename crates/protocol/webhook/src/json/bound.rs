//! The bounds on texts that are documented defaults, whose breach is a finding.

use super::Context;
use crate::finding::Rule;
use bankrail_values::excerpt;

/// A bound on a text: length in code points and the characters allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) min: usize,
    pub(crate) max: usize,
    allowed: fn(char) -> bool,
    /// The characters allowed, as a regular expression for schemas; `None` if all are allowed.
    pub(crate) pattern: Option<&'static str>,
    expected: &'static str,
}

impl Bound {
    pub(crate) const NAME: Self = Self::printable(140, "1 to 140 printable ASCII characters");
    pub(crate) const PARTY_REFERENCE: Self =
        Self::printable(35, "1 to 35 printable ASCII characters");
    pub(crate) const ACCOUNT: Self = Self::printable(34, "1 to 34 printable ASCII characters");
    pub(crate) const ALIAS: Self = Self::any(2048, "1 to 2048 characters");
    pub(crate) const ERROR_CODE: Self = Self::any(35, "1 to 35 characters");
    pub(crate) const ERROR_TEXT: Self = Self::any(1000, "1 to 1000 characters");
    pub(crate) const REASON_DESCRIPTION: Self = Self::any(256, "1 to 256 characters");
    pub(crate) const LINE: Self = Self::any(140, "1 to 140 characters");
    pub(crate) const REASON_CODE: Self = Self::new(
        4,
        4,
        |c| c.is_ascii_alphanumeric(),
        Some("^[0-9A-Za-z]*$"),
        "4 letters or digits",
    );

    const fn new(
        min: usize,
        max: usize,
        allowed: fn(char) -> bool,
        pattern: Option<&'static str>,
        expected: &'static str,
    ) -> Self {
        Self {
            min,
            max,
            allowed,
            pattern,
            expected,
        }
    }

    const fn printable(max: usize, expected: &'static str) -> Self {
        Self::new(
            1,
            max,
            |c| matches!(c, ' '..='~'),
            Some("^[ -~]*$"),
            expected,
        )
    }

    const fn any(max: usize, expected: &'static str) -> Self {
        Self::new(1, max, |_| true, None, expected)
    }

    pub(crate) fn holds(&self, text: &str) -> bool {
        // Counting one character beyond the bound is enough, even for a long text.
        let length = text.chars().take(self.max + 1).count();
        (self.min..=self.max).contains(&length) && text.chars().all(self.allowed)
    }

    pub(crate) fn check(&self, text: &str, at: &mut Context) {
        if !self.holds(text) {
            at.find(Rule::DefaultBound, self.expected, excerpt(text));
        }
    }
}
